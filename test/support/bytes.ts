// Names are bytes. Here they travel as latin1 strings, one char a byte: they compare, sort and split as bytes do,
// and a failing test can print them.

/** The bytes that a latin1 string stands for. */
export function toBytes(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}

/** A latin1 string that stands for these bytes. */
export function fromBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Text as the bytes of its UTF-8 form, carried as latin1. */
export function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A name that is safe to print: quoted, everything but printable ASCII as an escape, nothing ambiguous. */
export function escapeName(latin1: string): string {
  const escaped = latin1.replace(/[^\x20-\x7e]|["\\]/g, (char) => {
    if (char === '\n') return '\\n';
    if (char === '"' || char === '\\') return `\\${char}`;
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}

/** The path of an entry in a directory, where '' is the root of the tree. */
export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** The path of the directory that holds an entry; '' for entries of the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
