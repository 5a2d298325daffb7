// Counts what agents do, as Prometheus metrics.
import { Counter, Histogram, type Registry } from 'prom-client';
import type { AnswerTimes } from '../call/call-events.js';

const PARTS = ['silence', 'text', 'model', 'sentence', 'speech', 'packet', 'total'] as const;
const SECONDS = [0.001, 0.003, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30];

export class AgentMetrics {
  readonly #answers: Counter<'agent'>;
  readonly #failures: Counter<'agent' | 'code'>;
  readonly #tools: Counter<'agent'>;
  readonly #early: Counter<'agent' | 'end'>;
  readonly #seconds: Histogram<'part'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#answers = new Counter({
      name: 'parley_agent_answers_total',
      help: 'answers of agents that began to be heard',
      labelNames: ['agent'],
      registers,
    });
    this.#failures = new Counter({
      name: 'parley_agent_failures_total',
      help: 'answers that an agent could not give, by error code',
      labelNames: ['agent', 'code'],
      registers,
    });
    this.#tools = new Counter({
      name: 'parley_agent_functions_total',
      help: 'functions that the models of agents have called',
      labelNames: ['agent'],
      registers,
    });
    this.#early = new Counter({
      name: 'parley_agent_early_answers_total',
      help: 'answers that were asked for before the turn was decided: taken, or thrown_away',
      labelNames: ['agent', 'end'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'parley_agent_answer_seconds',
      help: 'parts of the way to an answer: silence (end of speech to end of turn), text, model (to its first token), sentence (until the first one is whole), speech (to the first sound), packet, and total',
      labelNames: ['part'],
      buckets: SECONDS,
      registers,
    });
  }

  answered(agent: string, times: AnswerTimes): void {
    this.#answers.inc({ agent });
    for (const part of PARTS) {
      const ms = times[`${part}Ms`];
      if (ms !== undefined) this.#seconds.observe({ part }, ms / 1000);
    }
  }

  failed(agent: string, code: string): void {
    this.#failures.inc({ agent, code });
  }

  /** An answer that was asked for before its turn was decided has become the answer, or not. */
  earlyAnswer(agent: string, isTaken: boolean): void {
    this.#early.inc({ agent, end: isTaken ? 'taken' : 'thrown_away' });
  }

  toolCalled(agent: string): void {
    this.#tools.inc({ agent });
  }
}
