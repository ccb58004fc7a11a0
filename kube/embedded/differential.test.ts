import { expect, it } from 'vitest';
import { runKubeDifferential } from '../../test/conformance/kube/differential.ts';
import type { KubeClient } from '../types.ts';
import { createEmbeddedCluster } from './cluster.ts';

const seeds = Array.from({ length: 20 }, (_, i) => i + 1);

it('two embedded servers answer alike', async () => {
  const [reference, subject] = [createEmbeddedCluster().client(), createEmbeddedCluster().client()];
  expect(await runKubeDifferential({ reference, subject, seeds, steps: 25 })).toEqual([]);
});

it('a server that loses a field is found out', async () => {
  const subject = createEmbeddedCluster().client();
  const forgetful: KubeClient = {
    ...subject,
    patch: (resource, ref, patch, options, signal) => {
      const forced = patch.type === 'apply' ? { ...patch, force: true } : patch;
      return subject.patch(resource, ref, forced, options, signal);
    },
  };
  const reference = createEmbeddedCluster().client();
  const found = await runKubeDifferential({ reference, subject: forgetful, seeds, steps: 25 });
  expect(found.length).toBeGreaterThan(0);
  expect(found[0]?.requests.at(-1)).toMatch(/^apply/);
  expect(found[0]?.reference).toMatchObject({ status: 409, reason: 'Conflict' });
});
