import { workerData } from 'node:worker_threads';

import { type SharedRecheck, takePart } from './recheck.js';

takePart(workerData as SharedRecheck);
