// The figures of the media of all telephone calls: packets of real calls over loopback sockets, on a plane
// whose clock the test controls.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { MediaSupply } from '../../../sip/telephone/media-supply.js';
import { readConfig } from '../../../src/config/config.js';
import { SILENT_LOG } from '../../../src/log.js';
import { MediaPlane } from '../../../src/media/media-plane.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { RTP_PORTS_OF_SERVER } from '../../fakes/free-port.js';
import { rtp, START_MS, WALL_MS } from '../../media/plane-under-test.js';
import { Phone, portIn } from '../media/media-under-test.js';
import { valueOf } from '../sdp/negotiation-under-test.js';

const HOST = '127.0.0.1';
const STEP_MS = 20;

function openSupply(t: TestContext) {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const time = new ManualTime(START_MS);
  const config = readConfig({ SIP_HOST: HOST, SRTP: 'off', ...RTP_PORTS_OF_SERVER });
  const supply = new MediaSupply({ config, plane, time, log: SILENT_LOG });
  t.after(() => {
    supply.close();
    plane.close();
  });
  /** A call whose caller sends packets with these sequence numbers. */
  const call = async () => {
    const phone = await Phone.open(t);
    const media = supply.open(HOST);
    t.after(() => media.close());
    media.confirmed();
    media.acknowledged('ACK');
    const port = portIn(valueOf(media.answer(phone.describe())));
    const send = async (...sequences: readonly number[]) => {
      for (const sequence of sequences) await phone.send(rtp({ sequence, timestamp: 160 * sequence }), port);
      plane.advance(time.now() + STEP_MS);
      time.advance(STEP_MS);
    };
    return { media, send };
  };
  return { supply, call };
}

test('received and lost packets are those of all calls, open and closed', async (t) => {
  const { supply, call } = openSupply(t);
  assert.deepEqual(supply.packets, { received: 0, lost: 0 });
  const [first, second] = [await call(), await call()];
  await first.send(1, 2, 3, 5);
  await second.send(7, 8, 10);
  assert.deepEqual(supply.packets, { received: 7, lost: 2 });
  await first.send(6, 8);
  first.media.close();
  assert.deepEqual(supply.packets, { received: 9, lost: 3 });
  await second.send(11);
  assert.deepEqual(supply.packets, { received: 10, lost: 3 });
});

test('a packet that was late is received, and the losses that were counted do not fall', async (t) => {
  const { supply, call } = openSupply(t);
  const { send } = await call();
  await send(1, 2, 4);
  assert.deepEqual(supply.packets, { received: 3, lost: 1 });
  await send(3);
  assert.deepEqual(supply.packets, { received: 4, lost: 1 });
  await send(6);
  assert.deepEqual(supply.packets, { received: 5, lost: 1 });
  await send(8);
  assert.deepEqual(supply.packets, { received: 6, lost: 2 });
});
