/** One line of the drawing. */
export interface Line {
  readonly label: string;
  readonly ours: boolean;
  readonly dashed: boolean;
  readonly points: readonly Point[];
}

export interface Point {
  readonly files: number;
  readonly seconds: number;
}

interface Frame {
  readonly across: (files: number) => number;
  readonly up: (seconds: number) => number;
  readonly decades: { readonly files: readonly number[]; readonly seconds: readonly number[] };
}

const width = 810;
const height = 460;
const left = 78;
const right = 570;
const top = 44;
const bottom = 400;

/** Draws seconds over files, both by powers of ten, as SVG that reads on light and dark ground. */
export function drawGrowth(lines: readonly Line[]): string {
  const drawn = lines.filter(({ points }) => points.length > 0);
  const frame = frameFor(drawn.flatMap(({ points }) => points));
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    '<title id="title">Seconds of a save over the number of files</title>',
    style,
    `<rect class="ground" width="${width}" height="${height}" rx="6"/>`,
    `<text class="head" x="${left}" y="26">Seconds of a save over the number of files</text>`,
    ...grid(frame),
    ...drawn.map((line) => drawLine(line, frame)),
    ...labels(drawn, frame),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}

const style = `<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .head { font-weight: 600; font-size: 15px; }
  .ground { fill: #ffffff; }
  .grid { stroke: #d8dee4; stroke-width: 1; }
  .line { fill: none; stroke-width: 2.25; stroke-linejoin: round; }
  .ours { stroke: #0969da; } .dot.ours, .label.ours { fill: #0969da; stroke: none; }
  .git { stroke: #bc4c00; } .dot.git, .label.git { fill: #bc4c00; stroke: none; }
  .dashed { stroke-dasharray: 7 5; }
</style>`;

function frameFor(points: readonly Point[]): Frame {
  const files = decadesOf(points.map((point) => point.files));
  const seconds = decadesOf(points.map((point) => point.seconds));
  return {
    across: (value) => round(left + share(value, files) * (right - left)),
    up: (value) => round(bottom - share(value, seconds) * (bottom - top)),
    decades: { files, seconds },
  };
}

// From the power of ten below the least to the one above the most.
function decadesOf(values: readonly number[]): number[] {
  const first = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

function share(value: number, decades: readonly number[]): number {
  const first = Math.log10(decades[0]!);
  return (Math.log10(value) - first) / (Math.log10(decades.at(-1)!) - first);
}

function grid({ across, up, decades }: Frame): string[] {
  const middle = (left + right) / 2;
  return [
    ...decades.files.flatMap((files) => [
      `<line class="grid" x1="${across(files)}" x2="${across(files)}" y1="${top}" y2="${bottom}"/>`,
      `<text x="${across(files)}" y="${bottom + 20}" text-anchor="middle">${files.toLocaleString('en-US')}</text>`,
    ]),
    ...decades.seconds.flatMap((seconds) => [
      `<line class="grid" x1="${left}" x2="${right}" y1="${up(seconds)}" y2="${up(seconds)}"/>`,
      `<text x="${left - 8}" y="${up(seconds) + 4}" text-anchor="end">${Number(seconds.toPrecision(1))} s</text>`,
    ]),
    `<text x="${middle}" y="${bottom + 44}" text-anchor="middle">files of 200 bytes, 50 in a directory</text>`,
  ];
}

function drawLine({ label, ours, dashed, points }: Line, { across, up }: Frame): string {
  const path = points.map(({ files, seconds }) => `${across(files)},${up(seconds)}`).join(' ');
  const name = ours ? 'ours' : 'git';
  const dots = points.map(
    ({ files, seconds }) =>
      `<circle class="dot ${name}" cx="${across(files)}" cy="${up(seconds)}" r="3.5">` +
      `<title>${label}: ${files.toLocaleString('en-US')} files, ${Number(seconds.toPrecision(3))} s</title></circle>`,
  );
  return [`<polyline class="line ${name}${dashed ? ' dashed' : ''}" points="${path}"/>`, ...dots].join('\n');
}

// At the end of each line; lines that end close together push their labels apart.
function labels(lines: readonly Line[], { across, up }: Frame): string[] {
  const ends = lines.map(({ label, ours, points }) => ({ label, ours, end: points.at(-1)! }));
  const byHeight = ends.sort((one, other) => other.end.seconds - one.end.seconds);
  let lowest = 0;
  return byHeight.map(({ label, ours, end }) => {
    const y = Math.max(up(end.seconds) + 4, lowest + 17);
    lowest = y;
    return `<text class="label ${ours ? 'ours' : 'git'}" x="${across(end.files) + 10}" y="${round(y)}">${label}</text>`;
  });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
