/** udnctl connectivity, from anywhere: what it finds, and that nothing of it is left. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { findArtifacts } from '../../../sandbox/artifacts.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { applyAndWait } from '../support/cluster/cluster.ts';
import { plainNamespace } from '../support/cluster/manifests.ts';
import type { Said } from '../support/cluster/udnctl.ts';

/** @param udnctl outside of the cluster, with its kubeconfig */
export const connectivityMeasured = (
  cluster: () => Sandbox,
  udnctl: (...args: readonly string[]) => Promise<Said>,
): void => {
  /** The kernel of this machine has no VRF, so tenants reach neither DNS nor the API server. */
  const measured = (...more: readonly string[]): Promise<Said> =>
    udnctl('connectivity', '--image', 'toolbox', '--program', 'toolbox', '-o', 'json', ...more);
  const leavesNothing = async (): Promise<void> => {
    const namespaces = await (await cluster().objects()).list('Namespace');
    expect(namespaces.filter(({ metadata: { name } }) => name?.startsWith('connectivity-'))).toEqual([]);
  };
  afterEach(leavesNothing);

  it('two tenants with the same subnets, and Services', async () => {
    const { stdout, status } = await measured('--only', 'pods', 'services', 'mtu');
    const { probes, unmeasured } = connectivitySchema.parse(JSON.parse(stdout));
    expect({ wrong: differing(probes), unmeasured, status }).toEqual({ wrong: [], unmeasured: [], status: 0 });
    expect(Map.groupBy(probes, ({ test }) => test)).toMatchObject({ size: 3 });
    expect(probes.filter(({ expected }) => expected === 'not reached').length).toBeGreaterThan(30);
  });

  it('a tunnel that carries nothing: the pairs of two nodes are named, and no other', async () => {
    const table =
      'table netdev cut { chain out { type filter hook egress device "eth0" priority 0; udp dport 6081 drop; }; }';
    await cluster().node('node-2', ['nft', table]);
    try {
      const { stdout, status } = await measured('--only', 'pods', '--probe-timeout', '1s');
      const { probes } = connectivitySchema.parse(JSON.parse(stdout));
      const wrong = new Set(differing(probes).map(({ from, to }) => `${from} to ${to}`));
      const between = (one: string, other: string) => [`${one} to pod ${other}`, `${other} to pod ${one}`];
      const cut = ['a', 'b'].flatMap((tenant) => [
        ...between(`${tenant}1`, `${tenant}3`),
        ...between(`${tenant}2`, `${tenant}3`),
      ]);
      expect([...wrong].sort()).toEqual(cut.sort());
      expect(status).toBe(1);
    } finally {
      await cluster().node('node-2', ['nft', 'delete table netdev cut']);
    }
  });

  it('pods that cannot run: why, and exit status 2', async () => {
    const { stdout, status } = await measured('--program', '/nothing', '--timeout', '10s', '--only', 'pods');
    const { unmeasured } = connectivitySchema.parse(JSON.parse(stdout));
    expect(unmeasured).toHaveLength(6);
    for (const { cause } of unmeasured)
      expect(cause).toMatch(/is not ready: .*\/nothing|CrashLoopBackOff|RunContainerError/s);
    expect(status).toBe(2);
  });

  it('an interrupted run leaves nothing, and says that it was interrupted', async () => {
    const { kubeconfig } = await cluster().status();
    const { node, dist } = findArtifacts();
    const args = [join(dist, 'udnctl.mjs'), 'connectivity', '--image', 'toolbox', '--program', 'toolbox'];
    const child = spawn(node, args, { env: { PATH: process.env['PATH'], KUBECONFIG: kubeconfig } });
    let said = '';
    let isInterrupted = false;
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (isInterrupted || !said.includes('waiting for 6 pods')) return;
      isInterrupted = child.kill('SIGINT');
    });
    const [status] = await once(child, 'close');
    expect(said).toMatch(/interrupted by SIGINT\n$/);
    expect(status).toBe(2);
  });

  it('leftovers of a run that was killed are deleted by their label and name, and nothing else', async () => {
    const labelled = (name: string) => {
      const plain = plainNamespace(name);
      return { ...plain, metadata: { ...plain.metadata, labels: { 'k8s.ovn.org/connectivity-test': 'c0ffee' } } };
    };
    const foreign = 'labelled kept: it has label k8s.ovn.org/connectivity-test, but not the name of a run\n';
    const recent =
      'connectivity-c0ffee-a kept: younger than 15 minutes, perhaps of a run in progress; --force deletes it\n';
    await applyAndWait(cluster(), ['connectivity-c0ffee-a', 'labelled'].map(labelled));
    try {
      const cleanUp = (...more: readonly string[]) => udnctl('connectivity', '--cleanup', ...more);
      expect(await cleanUp()).toMatchObject({ stdout: recent + foreign, stderr: '', status: 0 });
      const deleted = 'connectivity-c0ffee-a deleted\n';
      expect(await cleanUp('--force')).toMatchObject({ stdout: deleted + foreign, stderr: '', status: 0 });
      expect(await cleanUp()).toMatchObject({ stdout: foreign, status: 0 });
      await (await cluster().objects()).get('Namespace', 'red');
    } finally {
      await (await cluster().objects()).delete([plainNamespace('labelled')]);
    }
  });

  it('who may not create what it needs is told, and nothing is created', async () => {
    const { stderr, status } = await udnctl('connectivity', '--as', 'operator');
    expect(stderr).toMatch(/^udnctl: nothing was created: you may not create namespaces, .*create pods\/exec/);
    expect(status).toBe(2);
  });
};

const connectivitySchema = z.object({
  probes: z.array(
    z.object({ test: z.string(), from: z.string(), to: z.string(), expected: z.string(), observed: z.string() }),
  ),
  unmeasured: z.array(z.object({ what: z.string(), cause: z.string() })),
});
type MeasuredProbe = z.output<typeof connectivitySchema>['probes'][number];

const differing = (probes: readonly MeasuredProbe[]): readonly MeasuredProbe[] =>
  probes.filter(({ expected, observed }) => expected !== observed);
