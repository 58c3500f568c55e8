// What the command line uses of the library while it runs. Nothing that `--help` and `--version` need imports this.
export {
  bytesOfText,
  displayPath,
  isSnapError,
  namedRisks,
  parseEntryPath,
  parseInstanceName,
  parseMountName,
  pathToJson,
  SnapError,
  systemCode,
} from '../index.js';
