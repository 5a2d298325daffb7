// The parent's side of the server of conversations: it starts the process, with one agent for each caller.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AnswerTimes } from '../../../src/call/call-events.js';
import { freePorts, RTP_PORTS_OF_SERVER } from '../../fakes/free-port.js';
import { ScratchFolder } from '../../interop/telephone/program.js';
import type { Address } from '../../interop/telephone/sipp.js';
import type { FromConversationServer, ToConversationServer } from './conversation-server.js';
import { OUR_VOICE } from './voices.js';

const SCRIPT = fileURLToPath(new URL('./conversation-server.js', import.meta.url));
const TURNS = fileURLToPath(new URL('./scripted-turns.js', import.meta.url));
const CLOSE_LIMIT_MS = 5000;

interface ServerOptions {
  readonly chatUrl: string;
  /** Names of the callers. Each is the number that is called, and the agent that answers. */
  readonly callers: readonly string[];
  /** The voice of the agents; OUR_VOICE if absent. */
  readonly voice?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly caller: string;
  readonly times: AnswerTimes;
}

export class BenchConversationServer {
  readonly url: string;
  readonly sip: Address;
  /** Parts of the way to each answer so far. */
  readonly answered: Answered[] = [];
  readonly #child: ChildProcess;
  readonly #folder: ScratchFolder;

  private constructor(url: string, sipPort: number, child: ChildProcess, folder: ScratchFolder) {
    this.url = url;
    this.sip = { host: '127.0.0.1', port: sipPort };
    this.#child = child;
    this.#folder = folder;
    child.on('message', (message: FromConversationServer) => {
      if (message.type === 'answered') this.answered.push(message);
    });
  }

  static async start(options: ServerOptions): Promise<BenchConversationServer> {
    const { chatUrl, callers, voice = OUR_VOICE, environment } = options;
    const port = await freePorts(2);
    const folder = new ScratchFolder();
    const [agents, routes] = [folder.at('agents.json'), folder.at('routes.json')];
    const own = callers.map((name) => [name, { prompt: name, hints: name, voice }]);
    writeFileSync(agents, JSON.stringify({ agents: Object.fromEntries(own) }));
    writeFileSync(routes, JSON.stringify({ routes: callers.map((name) => ({ to: name, agent: name })) }));
    const child = fork(SCRIPT, {
      env: {
        ...process.env,
        PORT: '0',
        ENGINE: 'flite',
        LOG_LEVEL: 'warn',
        FRAME_CACHE_BYTES: '0', // each sentence is synthesised
        SIP_PORT: `${port}`,
        SIP_ROUTES: routes,
        ...RTP_PORTS_OF_SERVER,
        ICE_HOST_ADDRESSES: '127.0.0.1',
        END_OF_TURN_MODULE: TURNS,
        AGENTS_FILE: agents,
        AGENT_LLM_URL: chatUrl,
        AGENT_LLM_MODEL: 'scripted',
        ...environment,
      },
    });
    try {
      const ended = once(child, 'exit').then(([code]) =>
        Promise.reject(new Error(`the server ended with ${code}`)),
      );
      const [message] = (await Promise.race([once(child, 'message'), ended])) as [FromConversationServer];
      if (message.type !== 'listening') throw new Error(`the server said ${message.type} first`);
      return new BenchConversationServer(message.url, port, child, folder);
    } catch (error) {
      child.kill();
      folder.remove();
      throw error;
    }
  }

  tell(message: ToConversationServer): void {
    this.#child.send(message);
  }

  async close(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_LIMIT_MS);
    await exited;
    clearTimeout(late);
    this.#folder.remove();
  }
}
