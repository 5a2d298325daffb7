// A call made by a page in a real Chromium: what the page does, and what the
// test asks it.
import type { Browser, Page } from 'playwright-core';

interface PageMessage {
  readonly type: string;
  readonly atMs: number;
  readonly text: string;
  readonly [field: string]: unknown;
}

/** Statistics of the page's one inbound audio stream (W3C webrtc-stats). */
interface Heard {
  readonly packetsReceived: number;
  readonly packetsLost: number;
  readonly concealedSamples: number;
  /** The page filled these of `concealedSamples` with silence or comfort noise. */
  readonly silentConcealedSamples: number;
  /** Packets whose copy of the frame before (in-band FEC) could be decoded; absent before the first one. */
  readonly fecPacketsReceived?: number;
  readonly totalSamplesReceived: number;
  /** Seconds. */
  readonly totalSamplesDuration: number;
  readonly totalAudioEnergy: number;
  /** Seconds that all emitted samples together were in the jitter buffer. */
  readonly jitterBufferDelay: number;
  readonly jitterBufferEmittedCount: number;
  readonly audioLevel: number;
  readonly ssrc: number;
  readonly codec: string;
}

/** Statistics of the page's nominated pair of candidates: its checks pass the way of the sound. */
interface PairStats {
  /** Seconds of all answered checks together. */
  readonly totalRoundTripTime: number;
  readonly responsesReceived: number;
}

// Runs in the page. Its audio has to be played, or nothing would be decoded.
const CALLER = `
window.openCall = async (codec) => {
  const connection = new RTCPeerConnection();
  const messages = [];
  const waiting = new Set();
  const look = () => waiting.forEach((check) => check());
  const call = { connection, messages, state: () => connection.connectionState };
  const audio = new Audio();
  connection.ontrack = ({ track }) => {
    audio.srcObject = new MediaStream([track]);
    void audio.play();
  };
  const transceiver = connection.addTransceiver('audio', { direction: 'recvonly' });
  if (codec !== undefined) {
    const all = RTCRtpReceiver.getCapabilities('audio').codecs;
    transceiver.setCodecPreferences(all.filter(({ mimeType }) => mimeType === 'audio/' + codec));
  }
  const channel = connection.createDataChannel('parley');
  channel.onmessage = ({ data }) => {
    messages.push({ atMs: performance.now(), ...JSON.parse(data) });
    look();
  };
  channel.onclose = () => {
    call.channelClosed = true;
    look();
  };
  call.send = (message) => channel.send(JSON.stringify(message));
  call.until = (check) =>
    new Promise((resolve) => {
      const test = () => {
        const found = check(call);
        if (!found) return;
        waiting.delete(test);
        resolve(found);
      };
      waiting.add(test);
      test();
    });
  call.heard = async () => {
    const reports = [...(await connection.getStats()).values()];
    const stream = reports.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'audio') ?? {};
    const codec = reports.find(({ id }) => id === stream.codecId)?.mimeType;
    return { ...stream, codec };
  };
  call.pair = async () => {
    const reports = [...(await connection.getStats()).values()];
    return reports.find(({ type, nominated }) => type === 'candidate-pair' && nominated);
  };
  await connection.setLocalDescription(await connection.createOffer());
  const response = await fetch('/v1/realtime/calls', {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: connection.localDescription.sdp,
  });
  const body = await response.text();
  if (response.status !== 201) throw new Error(response.status + ' ' + body);
  call.location = response.headers.get('location');
  call.answer = body;
  await connection.setRemoteDescription({ type: 'answer', sdp: body });
  window.call = call;
  await call.until(() => messages.find(({ type }) => type === 'ready'));
  return call.location;
};
`;

export class PageCall {
  readonly page: Page;
  /** The call's id. */
  readonly id: string;
  readonly #location: string;

  private constructor(page: Page, location: string) {
    this.page = page;
    this.#location = location;
    this.id = decodeURIComponent(location.split('/').at(-1) ?? '');
  }

  /** `rewrite` changes the server's answer on its way to the page. */
  static async open(
    browser: Browser,
    url: string,
    codec?: string,
    rewrite?: (answer: string) => Promise<string>,
  ): Promise<PageCall> {
    const page = await browser.newPage();
    if (rewrite !== undefined) {
      await page.route('**/v1/realtime/calls', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: await rewrite(await response.text()) });
      });
    }
    await page.addInitScript(CALLER);
    // Any page of the server will do; this one does nothing by itself.
    await page.goto(`${url}/health`);
    const location = await page.evaluate<string>(`openCall(${JSON.stringify(codec)})`);
    return new PageCall(page, location);
  }

  send(message: object): Promise<void> {
    return this.page.evaluate(`call.send(${JSON.stringify(message)})`);
  }

  /** The first message from index `from` on with these fields. */
  message(fields: Record<string, unknown>, from = 0): Promise<PageMessage> {
    const wanted = JSON.stringify(Object.entries(fields));
    return this.page.evaluate(
      `call.until(({ messages }) => messages.slice(${from}).find((message) =>
        ${wanted}.every(([name, value]) => message[name] === value)))`,
    );
  }

  messages(): Promise<PageMessage[]> {
    return this.page.evaluate('call.messages');
  }

  heard(): Promise<Heard> {
    return this.page.evaluate('call.heard()');
  }

  pair(): Promise<PairStats> {
    return this.page.evaluate('call.pair()');
  }

  answer(): Promise<string> {
    return this.page.evaluate('call.answer');
  }

  /** Resolves when the page's data channel has closed. */
  async channelClosed(): Promise<void> {
    await this.page.evaluate('call.until((call) => call.channelClosed)');
  }

  hangUp(): Promise<number> {
    const location = JSON.stringify(this.#location);
    return this.page.evaluate(`fetch(${location}, { method: 'DELETE' }).then(({ status }) => status)`);
  }

  /** The page itself ends the connection. */
  leave(): Promise<void> {
    return this.page.evaluate('call.connection.close()');
  }

  /** Milliseconds pass in the page, while it hears. */
  listen(ms: number): Promise<void> {
    return this.page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${ms}))`);
  }

  close(): Promise<void> {
    return this.page.close();
  }
}
