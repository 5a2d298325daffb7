// A voice application for Parley in one file: it answers each prompt token by token, and keeps what was heard.
// Run: npm install ws && npx tsx relay.ts    Agent: {"relay": {"url": "ws://127.0.0.1:8090/"}}
import { type WebSocket, WebSocketServer } from 'ws';

interface Message {
  type: string;
  sessionId?: string;
  resumed?: boolean;
  voicePrompt?: string;
  utteranceUntilInterrupt?: string;
}

const port = Number(process.env['PORT'] ?? 8090);
const server = new WebSocketServer({ host: '127.0.0.1', port });
server.on('listening', () => console.log(`relay application listens on port ${port}`));

const histories = new Map<string, { role: string; content: string }[]>();

server.on('connection', (socket: WebSocket) => {
  let history: { role: string; content: string }[] = [];
  const send = (message: object) => socket.send(JSON.stringify(message));
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message;
    if (message.type === 'setup') {
      // A socket that was lost is dialled again, and the session goes on.
      history = histories.get(message.sessionId ?? '') ?? [];
      histories.set(message.sessionId ?? '', history);
      if (message.resumed !== true) send({ type: 'text', token: 'Welcome to the tea shop.', last: true });
    }
    if (message.type === 'interrupt') {
      // The model must know what the caller has heard, and no more.
      const last = history.at(-1);
      if (last?.role === 'assistant') last.content = message.utteranceUntilInterrupt ?? '';
    }
    if (message.type !== 'prompt') return;
    const said = message.voicePrompt ?? '';
    history.push({ role: 'user', content: said });
    if (/\bbye\b/i.test(said)) {
      send({ type: 'text', token: 'Goodbye.', last: true });
      return send({ type: 'end' });
    }
    // Ask your language model here, and send each of its tokens as it comes.
    const answer = `You said: ${said} I have ${history.length} messages in mind.`;
    history.push({ role: 'assistant', content: answer });
    for (const token of answer.split(/(?<= )/)) send({ type: 'text', token });
    send({ type: 'text', token: '', last: true });
  });
});
