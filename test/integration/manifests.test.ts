/** kubectl builds `daemonset/`, and an API server takes all of it, again and again: the embedded one, and a real one. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedServer } from '../../kube/embedded/server.ts';
import { createKubectl, type Kubectl } from '../conformance/kube/kubectl.ts';
import { startRealServer } from '../conformance/kube/real-server.ts';

interface Subject {
  readonly kubeconfig: string;
  /** Its controller manager says of each policy what it thinks of it, a moment later. */
  readonly isReal: boolean;
  close(): Promise<void>;
}

const embedded = async (): Promise<Subject> => {
  const server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port: 0 }] });
  return { kubeconfig: server.kubeconfig(), isReal: false, close: () => server.close() };
};

const real = async (): Promise<Subject> => {
  const { kubeconfig, close } = await startRealServer('test-manifests', { definitions: false });
  return { kubeconfig: await readFile(kubeconfig, 'utf8'), isReal: true, close };
};

const OBSERVED = '--for=jsonpath={.status.observedGeneration}=1';

describe.each([
  ['the embedded API server', embedded],
  ['a real API server', real],
])('%s', (_, start) => {
  let subject: Subject | undefined;
  let kubectl: Kubectl;

  beforeAll(async () => {
    subject = await start();
    kubectl = await createKubectl(subject.kubeconfig);
  }, 180_000);

  afterAll(async () => {
    await kubectl?.close();
    await subject?.close();
  });

  const versionsOf = async (): Promise<string[]> => {
    const path = '{range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
    return (await kubectl.run('get', '-k', 'daemonset', '-o', `jsonpath=${path}`)).trim().split('\n');
  };

  it('is applied as it is, and a second time changes nothing', async () => {
    const first = (await kubectl.run('apply', '--validate=strict', '-k', 'daemonset')).trim().split('\n');
    expect(first.filter((line) => !line.endsWith(' created'))).toEqual([]);
    expect(first).toContain('daemonset.apps/udn-agent created');
    await kubectl.run('wait', '--for=condition=Established', 'crd', '--all', '--timeout=10s');
    if (subject?.isReal === true) await kubectl.run('wait', 'validatingadmissionpolicies', '--all', OBSERVED);
    const versions = await versionsOf();
    const second = (await kubectl.run('apply', '--validate=strict', '-k', 'daemonset')).trim().split('\n');
    // kubectl always replaces the selector of a PodDisruptionBudget.
    const changed = second.filter((line) => !line.endsWith(' unchanged') && !line.startsWith('poddisruptionbudget'));
    expect(changed).toEqual([]);
    expect(await versionsOf()).toEqual(versions);
    expect(versions).toHaveLength(first.length);
  });

  it('both programs get the same settings, under a name that changes with them', async () => {
    const nameIn = async (kind: string, name: string) =>
      /"name": "(cluster-settings-[a-z0-9]+)"/.exec(
        await kubectl.run('-n', 'ovn-udn', 'get', kind, name, '-o', 'json'),
      )?.[1];
    const name = await nameIn('daemonset', 'udn-agent');
    expect(name).toBeDefined();
    expect(await nameIn('deployment', 'udn-cluster-manager')).toBe(name);
    expect(await kubectl.run('-n', 'ovn-udn', 'get', 'configmap', `${name}`, '-o', 'name')).toContain(name);
  });

  it('the custom resources are served', async () => {
    expect(await kubectl.run('get', 'udn,cudn,net-attach-def', '-A', '--ignore-not-found')).toBe('');
  });

  it('is deleted as a whole', async () => {
    await kubectl.run('delete', '-k', 'daemonset', '--ignore-not-found', '--wait=false');
    expect(await kubectl.run('get', 'clusterroles,clusterrolebindings', '-o', 'name')).not.toContain('ovn-udn');
  });
});
