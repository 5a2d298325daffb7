// The hearing worker: one thread that listens to all calls of a media plane.
import { collectWithOthers } from '../encoding/idle-memory.js';
import { fadePlayout } from '../media/playout.js';
import { openEars } from './ear-source.js';
import { serveHearing } from './hearing-service.js';

collectWithOthers();
await serveHearing({ openEars, fade: fadePlayout });
