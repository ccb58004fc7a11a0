import { expect, it } from 'vitest';
import { createFakeClock } from '../../kube/fake-clock.ts';
import type { Attachment, PodAttachments } from '../model/attachments.ts';
import { FactStore } from '../model/fact-store.ts';
import type { NetworkFact, PodFact } from '../model/facts.ts';
import { followNetworkUsage } from './network-usage.ts';
import { AttachmentRegistry } from './registry.ts';

const attached = (name: string, ...networks: readonly string[]): PodAttachments => ({
  pod: { namespace: 'ns', name } as PodFact,
  attachments: networks.map((network) => ({ network: { name: network } as NetworkFact }) as Attachment),
});

it('a network is in use while a pod here is attached to it, and for a while longer', async () => {
  const [facts, registry, clock] = [new FactStore(), new AttachmentRegistry(), createFakeClock()];
  const stop = followNetworkUsage({ facts, registry, clock, graceMs: 1000 });
  const used = (): string[] => [...facts.ids('networkInUse')].sort();
  registry.set('a', attached('a', 'red'));
  registry.set('b', attached('b', 'red', 'blue'));
  expect(used()).toEqual(['blue', 'red']);
  registry.delete('a');
  await clock.advance(5000);
  expect(used()).toEqual(['blue', 'red']);
  registry.set('b', attached('b', 'blue'));
  await clock.advance(999);
  expect(used()).toEqual(['blue', 'red']);
  await clock.advance(1);
  expect(used()).toEqual(['blue']);
  // Whoever comes back in time finds everything as it was.
  registry.delete('b');
  await clock.advance(500);
  registry.set('c', attached('c', 'blue'));
  await clock.advance(5000);
  expect(used()).toEqual(['blue']);
  registry.delete('c');
  stop();
  expect(clock.pending).toBe(0);
});
