// Before `npm test`: a fresh clone needs no other command.
import { join } from 'node:path';
import { installMissing } from '../../bin/install.mjs';

installMissing(join(import.meta.dirname, '../..'));
