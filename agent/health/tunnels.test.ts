import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { parseIp } from '../../net/ip.ts';
import { type TunnelPeer, TunnelProbe } from './tunnels.ts';

const peer = (index: number): TunnelPeer => ({
  node: `n${index}`,
  address: parseIp(`10.128.${index}.2`),
  encapIps: [parseIp(`192.0.2.${index}`)],
});

const setUp = async (count: number) => {
  const clock = createFakeClock();
  const peers = Array.from({ length: count }, (_, index) => peer(index + 1));
  const dead = new Set<string>();
  const asked: string[] = [];
  const probe = new TunnelProbe({
    clock,
    peers: () => peers,
    connect: (address, _, signal) => {
      asked.push(address);
      if (!dead.has(address)) return Promise.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  });
  const seconds = async (total: number): Promise<void> => {
    for (let second = 0; second < total; second += 1) {
      await clock.advance(1_000);
      await new Promise(setImmediate);
      await clock.advance(0);
    }
  };
  probe.start();
  await seconds(0);
  return { probe, peers, dead, asked, seconds };
};

it('a node alone has all its tunnels', async () => {
  const { probe, seconds } = await setUp(0);
  await seconds(10);
  expect(probe.health()).toMatchObject({ state: 'working' });
});

it('is not known before each node was asked, and asks a tenth of them at a time', async () => {
  const { probe, asked, seconds } = await setUp(100);
  expect(asked).toHaveLength(10);
  expect(probe.health()).toMatchObject({ state: 'unknown', message: '90 of 100 nodes were not checked yet' });
  await seconds(29);
  expect(new Set(asked).size).toBe(100);
  expect(asked).toHaveLength(100);
  expect(probe.health()).toMatchObject({ state: 'working' });
});

it('names who does not answer twice, until it answers or is no node any more', async () => {
  const { probe, peers, dead, seconds } = await setUp(3);
  await seconds(12);
  dead.add('10.128.2.2');
  await seconds(25);
  expect(probe.health()).toMatchObject({
    state: 'failed',
    message: expect.stringContaining('1 of 3 nodes do not answer through their tunnels: n2 (192.0.2.2);'),
  });
  dead.clear();
  await seconds(12);
  expect(probe.health()).toMatchObject({ state: 'working' });
  dead.add('10.128.2.2');
  await seconds(25);
  peers.splice(1, 1);
  expect(probe.health()).toMatchObject({ state: 'working' });
});
