// A server at two addresses of one family: whoever called one of them is written
// to from there, over real sockets.
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { LocatedSender } from '../../../sip/client/located-sender.js';
import { parseMessage } from '../../../sip/message/parser.js';
import { requestBytes } from '../../../sip/message/serialiser.js';
import { UserAgent } from '../../../sip/session/user-agent.js';
import { TransactionLayer } from '../../../sip/transaction/transaction-layer.js';
import { Transports } from '../../../sip/transport/transports.js';
import { systemTime as time } from '../../../src/time.js';
import { Places } from '../client/places.js';
import { HeardMedia } from './calling-out.js';
import { inviteOf, SeenEvents } from './two-ends.js';

const SECOND = '127.0.0.2';

test('a call to the second address is ended from the second address', async (t) => {
  const transports = new Transports({
    listeners: ['127.0.0.1', SECOND].map((host) => ({ transport: 'udp', host, port: 0 }) as const),
    time,
    received: (bytes, flow) => layer.received(bytes, flow),
  });
  const token = () => randomBytes(9).toString('hex');
  const agent = new UserAgent({
    time, token, randomInt, product: '', sessionSeconds: 0, leastSeconds: 90,
    admission: { admits: () => undefined },
    contactFor: (flow) => `<sip:${flow.local.address}:${flow.local.port}>`,
    invited: (session) => {
      session.accept(new HeardMedia(), new SeenEvents());
      void session.hangUp();
    },
  }); // prettier-ignore
  const layer = new TransactionLayer({ wire: transports, user: agent, time, token });
  const phone = createSocket('udp4').bind(0, '127.0.0.1');
  await once(phone, 'listening');
  const { port } = phone.address();
  const places = Object.assign(new Places(), { port });
  agent.start(layer, new LocatedSender({ layer, locator: places, time }));
  await transports.open();
  t.after(async () => {
    phone.close();
    layer.close();
    await transports.close();
  });
  const at = transports.places.find(({ place }) => place.address === SECOND)?.place ?? assert.fail();
  const own = `<sip:alice@127.0.0.1:${port}>`;
  const data = inviteOf('call', [['Contact', own], ['Content-Type', 'application/sdp']], 'offer'); // prettier-ignore
  const ack = { ...data, method: 'ACK', body: '' };
  const came: [string, string][] = [];
  const ended = new Promise<void>((resolve) => {
    phone.on('message', (bytes, { address }) => {
      const parsed = parseMessage(bytes);
      if (parsed.kind === 'response') {
        came.push([String(parsed.response.status), address]);
        if (parsed.response.status < 200) return;
        const to = parsed.response.first('to') ?? '';
        const headers = ack.headers.map(([name, value]) => [name, name === 'To' ? to : value.replace(/INVITE$/, 'ACK')] as const);
        phone.send(requestBytes({ ...ack, headers }, `SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK2`), at.port, SECOND);
      } else if (parsed.kind === 'request') {
        came.push([parsed.request.method, address]);
        resolve();
      }
    }); // prettier-ignore
  });
  phone.send(requestBytes(data, `SIP/2.0/UDP 127.0.0.1:${port};rport;branch=z9hG4bK1`), at.port, SECOND);
  await ended;
  assert.deepEqual(came, [['100', SECOND], ['200', SECOND], ['BYE', SECOND]]); // prettier-ignore
});
