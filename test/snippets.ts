// `npm run test:snippets -- DIR` replays TwiML documents that a developer has fetched by hand, for example
// the expected documents of Twilio's samples. Nothing in DIR becomes a part of the repository.
import { replayCommand } from './api/twiml/document-replay.js';

process.exitCode = replayCommand(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
