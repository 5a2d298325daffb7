// Calls whose sound comes and goes in frames on this thread: a WebSocket or a TCP connection carries it.
// Everything else is as in other calls: voices, listening, agents, captions, limits and events.
import { guarded } from '../errors.js';
import type { MediaPlane } from '../media/media-plane.js';
import type { Call } from './call.js';
import type { CallHandler, HandledCall } from './call-handler.js';
import type { CrossedPorts } from './crossed-ports.js';
import type { ListedCalls } from './listed-calls.js';
import { type FrameCodec, SoundPort, type SoundPortOptions } from './sound-port.js';
import type { Switchboard } from './switchboard.js';

export interface SoundFormats {
  /** Codec of the sound of the call. */
  readonly sends: FrameCodec;
  /** Codec of the sound that comes from the far end. */
  readonly receives: FrameCodec;
}

interface SoundCallRequest extends SoundFormats {
  /** One word, for metrics and the log. */
  readonly protocol: string;
  /** The names under which the call is counted for its client. */
  readonly clients: readonly string[];
  /** Name of the API key that the call belongs to; undefined: to every key. */
  readonly owner: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** See MediaPort. */
  readonly joinRefusal?: string | undefined;
  /** See SoundPort. */
  readonly onFrame: SoundPortOptions['onFrame'];
}

interface SoundCallsParts {
  readonly plane: MediaPlane;
  readonly switchboard: Pick<Switchboard, 'reserve'>;
  readonly handler: Pick<CallHandler, 'opened'>;
  /** Shows the calls to applications; absent: they are not listed. */
  readonly listed?: Pick<ListedCalls, 'add'>;
  /** Strong randomness. */
  readonly randomBytes: (count: number) => Buffer;
}

export class SoundCalls {
  readonly #parts: SoundCallsParts;
  readonly #owners = new Map<string, string | undefined>();

  constructor(parts: SoundCallsParts) {
    this.#parts = parts;
  }

  /** Throws CALL_CLOSED, CALL_LIMIT and CLIENT_LIMIT. */
  open(request: SoundCallRequest): SoundCall {
    const { protocol, clients, owner, joinRefusal } = request;
    const { switchboard, handler } = this.#parts;
    const place = switchboard.reserve({ protocol, clients });
    let opened: SoundCall | undefined;
    let port: SoundPort | undefined;
    try {
      this.#owners.set(place.id, owner);
      // A port that was replaced may still have a frame, of another codec.
      const isCurrent = (one: SoundPort) => opened?.isOn(one) === true;
      const fail = () => void opened?.call.close('server failed');
      const onFrame = guarded({ work: 'call', protocol, call: place.id }, request.onFrame, fail);
      const makePort = (formats: SoundFormats) =>
        this.#portOf({ ...formats, protocol, joinRefusal, onFrame }, isCurrent);
      port = makePort(request);
      const call = place.open(port.port);
      void call.closed.then(() => this.#owners.delete(call.id));
      opened = new SoundCall(call, port, request, makePort);
      this.#parts.listed?.add(opened.handled, owner);
      handler.opened(opened.handled);
      return opened;
    } catch (error) {
      this.#owners.delete(place.id);
      if (opened !== undefined) void opened.call.close('not opened');
      else void port?.port.close();
      throw error;
    } finally {
      place.release();
    }
  }

  /**
   * A call whose far end is in this server: its ports cross. Throws CALL_CLOSED, CALL_LIMIT, and what
   * `makePorts` throws.
   */
  openOn(
    makePorts: () => CrossedPorts,
    { protocol, clients, owner, from }: Omit<SoundCallRequest, keyof SoundFormats | 'onFrame' | 'to'>,
  ): { readonly handled: HandledCall; readonly ports: CrossedPorts } {
    const { switchboard, handler, listed } = this.#parts;
    const place = switchboard.reserve({ protocol, clients });
    let ports: CrossedPorts | undefined;
    let call: Call | undefined;
    try {
      ports = makePorts();
      this.#owners.set(place.id, owner);
      const opened = (call = place.open(ports.near));
      void opened.closed.then(() => this.#owners.delete(opened.id));
      const hangUp = () => opened.close('agent hung up');
      const handled: HandledCall = { call: opened, direction: 'inbound', from, hangUp };
      listed?.add(handled, owner);
      handler.opened(handled);
      return { handled, ports };
    } catch (error) {
      this.#owners.delete(place.id);
      if (call !== undefined) void call.close('not opened');
      else void ports?.near.close();
      throw error;
    } finally {
      place.release();
    }
  }

  /** Name of the API key that a call belongs to; undefined for a call of every key, or of others. */
  ownerOf(id: string): string | undefined {
    return this.#owners.get(id);
  }

  #portOf(
    {
      protocol,
      joinRefusal,
      onFrame,
      sends,
      receives,
    }: Pick<SoundCallRequest, 'protocol' | 'joinRefusal' | 'onFrame' | keyof SoundFormats>,
    isCurrent: (port: SoundPort) => boolean,
  ): SoundPort {
    const { plane, randomBytes } = this.#parts;
    const random = (bits: 16 | 32) => randomBytes(bits / 8).readUIntBE(0, bits / 8);
    const port: SoundPort = new SoundPort({
      plane,
      sends,
      receives,
      path: protocol,
      joinRefusal,
      random,
      onFrame: (payload) => {
        if (isCurrent(port)) onFrame(payload);
      },
    });
    return port;
  }
}

export class SoundCall {
  readonly call: Call;
  readonly handled: HandledCall;
  readonly #makePort: (formats: SoundFormats) => SoundPort;
  #formats: SoundFormats;
  #port: SoundPort;

  /** Made by SoundCalls.open. */
  constructor(
    call: Call,
    port: SoundPort,
    { sends, receives, from, to }: Pick<SoundCallRequest, 'sends' | 'receives' | 'from' | 'to'>,
    makePort: (formats: SoundFormats) => SoundPort,
  ) {
    this.call = call;
    this.#port = port;
    this.#formats = { sends, receives };
    this.#makePort = makePort;
    const hangUp = () => call.close('agent hung up');
    this.handled = { call, direction: 'inbound', from, to, hangUp };
  }

  /** It is the present port of the call. */
  isOn(port: SoundPort): boolean {
    return this.#port === port;
  }

  get formats(): SoundFormats {
    return this.#formats;
  }

  /** See SoundPort.receive. */
  receive(sound: Uint8Array): void {
    this.#port.receive(sound);
  }

  /** See SoundPort. */
  get leftMs(): number {
    return this.#port.leftMs;
  }

  /** Forgets the last `ms` of the sound that came and is not due yet. */
  drop(ms: number): void {
    this.#port.drop(ms);
  }

  /** Other codecs from now on. Sound that came and is not due yet is lost. Throws CALL_CLOSED. */
  change(formats: SoundFormats): void {
    const { sends, receives } = this.#formats;
    if (formats.sends === sends && formats.receives === receives) return;
    const [before, next] = [this.#port, this.#makePort(formats)];
    try {
      this.call.moveTo(next.port);
    } catch (error) {
      void next.port.close();
      throw error;
    }
    [this.#port, this.#formats] = [next, formats];
    void before.port.close();
  }
}
