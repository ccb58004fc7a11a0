/** Custom resource definitions of ours on a real API server. */
import { expect } from 'vitest';
import { eventually } from '../../conformance/kube/harness.ts';
import type { Kubectl } from '../../conformance/kube/kubectl.ts';

const FOLDER = 'daemonset/crds';

/**
 * Deletes them, and comes back when they are gone. Not by `kubectl delete --wait`: its watch hung once until its time was
 * over, on a machine that was busy.
 */
export const removeDefinitions = async (kubectl: Kubectl): Promise<void> => {
  await kubectl.run('delete', '-f', FOLDER, '--ignore-not-found', '--wait=false');
  await eventually(async () => {
    expect(await kubectl.run('get', '-f', FOLDER, '--ignore-not-found', '-o', 'name')).toBe('');
  }, 150_000);
};
