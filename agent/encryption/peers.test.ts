import { setImmediate as settled } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { Xfrm } from '../../datapath/xfrm/xfrm.ts';
import { parseIp } from '../../net/ip.ts';
import { watchPeers } from './peers.ts';

const [here, there, beyond] = ['10.0.0.1', '10.0.0.2', 'fd00::3'].map(parseIp) as [never, never, never];

const watching = (kernel: { policies: number; asked?: boolean; present?: boolean }) => {
  const clock = createFakeClock();
  const xfrm: Xfrm = {
    policies: () => Promise.resolve([{ src: here, dst: there, port: 6081 }].slice(0, kernel.policies)),
    associations: () =>
      Promise.resolve({
        asked: new Set(kernel.asked === true ? [there] : []),
        present: new Set(kernel.present === true ? [there] : []),
      }),
  };
  const peers = [
    { node: 'n2', ip: there },
    { node: 'n3', ip: beyond },
  ];
  const knocks: string[] = [];
  const watch = watchPeers({
    ...{ node: 'n1', xfrm, clock },
    ends: () => ({ local: [here], peers }),
    knock: (from, to) => knocks.push(`${from} ${to}`),
    onError: (error) => {
      throw error;
    },
  });
  /** What is a problem when it was so for a while. */
  const lasting = async (): Promise<readonly string[]> => {
    await settled();
    await clock.advance(30_000);
    await settled();
    return watch.problems().map(({ object, message }) => `${object}: ${message}`);
  };
  return { watch, lasting, kernel, knocks };
};

it('associations protect a peer; addresses of another family have no tunnel', async () => {
  const { lasting, knocks } = watching({ policies: 1, asked: true, present: true });
  expect(await lasting()).toEqual([]);
  expect(knocks).toEqual([]);
});

it('begins with a peer that it has a policy for, until there is an association', async () => {
  const { watch, knocks, lasting, kernel } = watching({ policies: 1 });
  await settled();
  expect(knocks).toEqual(['10.0.0.1 10.0.0.2']);
  expect(watch.problems()).toEqual([]);
  kernel.asked = true;
  expect(await lasting()).toEqual([expect.stringContaining('no IPsec security association with it')]);
  expect(knocks).toHaveLength(1);
  kernel.present = true;
  expect(await lasting()).toEqual([]);
  watch.stop();
});

it('says who has no policy, when it lasts', async () => {
  const { watch, lasting, kernel, knocks } = watching({ policies: 0 });
  await settled();
  expect(watch.problems()).toEqual([]);
  expect(await lasting()).toEqual([
    expect.stringMatching(/^Node\/n1: no traffic reaches pods of node n2 \(10\.0\.0\.2\): no IPsec policy exists/),
  ]);
  expect(knocks).toEqual([]);
  kernel.policies = 1;
  kernel.present = true;
  expect(await lasting()).toEqual([]);
  watch.stop();
});
