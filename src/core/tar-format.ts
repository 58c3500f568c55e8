/*
 * Writes tar in GNU's dialect: its long names are raw bytes, where pax headers and the tar libraries at hand take
 * UTF-8 text only.
 */

export type TarEntry = {
  /** Bytes, carried as latin1. */
  readonly name: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly modified: Date;
} & (
  | { readonly type: 'file'; readonly size: number }
  | { readonly type: 'directory' }
  | { readonly type: 'symlink' | 'link'; readonly target: string }
);

const blockBytes = 512;
const typeFlags = { file: '0', link: '1', symlink: '2', directory: '5' } as const;

export class TarWriter {
  readonly #write: (chunk: Uint8Array) => Promise<void>;

  constructor(write: (chunk: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** The entry's header; a file's content follows through `content` and `endContent`. */
  async add(entry: TarEntry): Promise<void> {
    const name = entry.type === 'directory' && !entry.name.endsWith('/') ? `${entry.name}/` : entry.name;
    const target = entry.type === 'symlink' || entry.type === 'link' ? entry.target : '';
    if (name.length > 100) await this.#long('L', name);
    if (target.length > 100) await this.#long('K', target);
    await this.#write(
      header({ ...entry, name, target, flag: typeFlags[entry.type], size: entry.type === 'file' ? entry.size : 0 }),
    );
  }

  async content(chunk: Uint8Array): Promise<void> {
    await this.#write(chunk);
  }

  async endContent(size: number): Promise<void> {
    const over = size % blockBytes;
    if (over > 0) await this.#write(new Uint8Array(blockBytes - over));
  }

  async finish(): Promise<void> {
    await this.#write(new Uint8Array(2 * blockBytes));
  }

  async #long(flag: 'L' | 'K', text: string): Promise<void> {
    const bytes = Buffer.from(`${text}\0`, 'latin1');
    const modified = new Date(0);
    await this.#write(
      header({ name: '././@LongLink', target: '', mode: 0, uid: 0, gid: 0, modified, flag, size: bytes.length }),
    );
    await this.#write(bytes);
    await this.endContent(bytes.length);
  }
}

interface Header {
  readonly name: string;
  readonly target: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly modified: Date;
  readonly flag: string;
  readonly size: number;
}

function header({ name, target, mode, uid, gid, modified, flag, size }: Header): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(name.slice(0, 100), 0, 'latin1');
  number(block, 100, 8, mode);
  number(block, 108, 8, uid);
  number(block, 116, 8, gid);
  number(block, 124, 12, size);
  number(block, 136, 12, Math.max(0, Math.floor(modified.getTime() / 1000)));
  block.write('        ', 148, 'latin1');
  block.write(flag, 156, 'latin1');
  block.write(target.slice(0, 100), 157, 'latin1');
  block.write('ustar  \0', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** Octal where it fits, else GNU's base-256. */
function number(block: Buffer, at: number, length: number, value: number): void {
  const octal = value.toString(8);
  if (octal.length < length) {
    block.write(`${octal.padStart(length - 1, '0')}\0`, at, 'latin1');
    return;
  }
  let rest = BigInt(value);
  for (let byte = length - 1; byte > 0; byte--, rest >>= 8n) block[at + byte] = Number(rest & 0xffn);
  block[at] = 0x80;
}
