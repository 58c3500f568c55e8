// What the command line uses of the library while it runs. Nothing that `--help` and `--version` need imports this.
export { SnapError, isSnapError, systemCode } from '../errors.js';
export { bytesOfText, displayPath, parseEntryPath, pathToJson } from '../core/entry-path.js';
export { parseInstanceName, parseMountName } from '../core/ids.js';
