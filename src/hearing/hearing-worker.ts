// The hearing worker: one thread that listens to all calls of a media plane.
import { fadePlayout } from '../media/playout.js';
import { openEars } from './ear-source.js';
import { serveHearing } from './hearing-service.js';

await serveHearing({ openEars, fade: fadePlayout });
