import { expect, it } from 'vitest';
import type { Xfrm } from '../../datapath/xfrm/xfrm.ts';
import { createFakeClock } from '../../kube/fake-clock.ts';
import { parseIp } from '../../net/ip.ts';
import { watchPeers } from './peers.ts';

const [here, there, beyond] = ['10.0.0.1', '10.0.0.2', 'fd00::3'].map(parseIp) as [never, never, never];

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

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
  const errors: unknown[] = [];
  const watch = watchPeers({
    ...{ node: 'n1', xfrm, clock },
    ends: () => ({ local: [here], peers }),
    onError: (error) => errors.push(error),
  });
  const twice = async (): Promise<readonly string[]> => {
    await settled();
    await clock.advance(15_000);
    await settled();
    return watch.problems().map(({ object, message }) => `${object}: ${message}`);
  };
  return { watch, twice, kernel, errors };
};

it('a policy protects a peer, also before anything was sent; addresses of another family have no tunnel', async () => {
  expect(await watching({ policies: 1 }).twice()).toEqual([]);
  expect(await watching({ policies: 1, asked: true, present: true }).twice()).toEqual([]);
});

it('says who has no policy, and who does not answer, when it lasts', async () => {
  const { watch, twice, kernel } = watching({ policies: 0 });
  await settled();
  expect(watch.problems()).toEqual([]);
  expect(await twice()).toEqual([
    expect.stringMatching(
      /^Node\/n1: nothing can be sent to pods of node n2 \(10\.0\.0\.2\): there is no IPsec policy/,
    ),
  ]);
  kernel.policies = 1;
  kernel.asked = true;
  await twice();
  expect(await twice()).toEqual([expect.stringContaining('the other end does not agree on IPsec')]);
  kernel.present = true;
  expect(await twice()).toEqual([]);
  watch.stop();
});
