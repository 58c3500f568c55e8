import pc from 'picocolors';

export interface TextStyle {
  /** Written to a terminal: tables fit its width, long lists are shortened. */
  readonly terminal: boolean;
  readonly columns: number;
  readonly now: Date;
  readonly paint: ReturnType<typeof pc.createColors>;
}

export function textStyle(from: {
  readonly terminal: boolean;
  readonly columns: number;
  readonly now: Date;
  readonly color: boolean;
}): TextStyle {
  const { terminal, columns, now, color } = from;
  return { terminal, columns, now, paint: pc.createColors(color) };
}
