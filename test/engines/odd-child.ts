// espeak's child process that does what the text says: `crash`, `hang`,
// `nonsense`; any other text is a sound of 100 samples per character.
import type { FromEspeak, ToEspeak } from '../../src/engines/espeak/espeak-child.js';

function say(message: FromEspeak): void {
  process.send?.(message);
}

process.on('disconnect', () => process.exit());
process.on('message', ({ id, text }: ToEspeak) => {
  if (text === 'crash') process.exit(3);
  if (text === 'hang') for (;;);
  const samples = new Int16Array(text.length * 100).fill(process.pid % 1000);
  say({ type: 'spoken', id: text === 'nonsense' ? -1 : id, samples, words: [] });
});
say({ type: 'ready', rate: 22_050 });
