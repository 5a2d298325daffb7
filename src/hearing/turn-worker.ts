// The worker of end-of-turn models: one thread for all calls of a hearing worker.
import { collectWithOthers } from '../encoding/idle-memory.js';
import { serveTurns } from './turn-service.js';

collectWithOthers();
await serveTurns();
