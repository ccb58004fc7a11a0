/** udnctl policy, from anywhere: each end of a connection is answered by the node of its pod. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../../sandbox/index.ts';
import { applyAndWait } from '../support/cluster/cluster.ts';
import type { Said } from '../support/cluster/udnctl.ts';

const POLICY = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'red', name: 'web' },
  spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
};

/** @param udnctl outside of the cluster, with its kubeconfig; red/a and red/b are on different nodes */
export const policiesExplained = (
  cluster: () => Sandbox,
  udnctl: (...args: readonly string[]) => Promise<Said>,
): void => {
  beforeAll(async () => {
    await applyAndWait(cluster(), [POLICY]);
    await vi.waitFor(
      async () => expect((await udnctl('policy', 'why', 'red/a', 'red/b', '81')).status).toBe(1),
      10_000,
    );
  });
  afterAll(async () => (await cluster().objects()).delete([POLICY]));

  it.each([
    ['tcp/80', 0, /^red\/a to red\/b, TCP 80: allowed\n.*egress of red\/a: open.*ingress of red\/b: allowed/s],
    ['udp/80', 1, /^red\/a to red\/b, UDP 80: denied: no rule for Ingress of red\/b/],
  ])('%s', async (port, status, text) => {
    expect(await udnctl('policy', 'why', 'red/a', 'red/b', port)).toMatchObject({
      ...{ status, stderr: '', stdout: expect.stringMatching(text) },
    });
  });

  it('an end whose agent cannot be asked is not allowed', async () => {
    const { stdout, status } = await udnctl('policy', 'why', 'red/a', 'red/b', '80', '--node', 'node-1');
    expect(stdout).toMatch(/^red\/a to red\/b, TCP 80: not known: red\/b is on another node/);
    expect(status).toBe(2);
    const nowhere = await udnctl('policy', 'why', 'red/a', 'red/b', '80', '--agent-namespace', 'default');
    expect(nowhere).toMatchObject({ status: 2, stdout: expect.stringContaining('cannot be asked') });
  });

  it('a matrix of all nodes, which the rows agree with', async () => {
    expect(await udnctl('policy', 'matrix', 'red')).toMatchObject({
      ...{ status: 0, stderr: '' },
      stdout: 'FROM \\ TO  a       b\na          .       TCP 80\nb          TCP 80  .\nthe rows let through the same\n',
    });
  });

  it('packets between pods of both nodes fare as the matrix says', async () => {
    const { stdout, status, stderr } = await udnctl('policy', 'matrix', 'red', '--probe');
    expect(stdout).toMatch(
      /\nthe rows let through the same\npackets to TCP 80, 40404 fared the same, in \d+ connections\n$/,
    );
    expect([status, stderr]).toEqual([0, '']);
  });

  it('a policy on a node', async () => {
    const { stdout, status } = await udnctl('policy', 'show', 'red/web', '--node', 'node-2');
    expect(stdout).toMatch(/^NetworkPolicy red\/web: ready\n {2}pods here: red\/b\n/);
    expect(status).toBe(0);
  });
};
