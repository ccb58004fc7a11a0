import { describe, expect, it } from 'vitest';
import { cudn, nad, namespace, netConf, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';
import { withoutRules } from '../testing/without-rules.ts';

const { cluster } = clusterPerTest();

const { annotation, condition, addressOf } = observe(() => cluster);
const PRIMARY = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.30.0.0/16'] } };
const TEAM_A = { matchLabels: { team: 'a' } };

describe('a ClusterUserDefinedNetwork', () => {
  it('has a NAD in every namespace that it selects, and one network for all', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('b', { team: 'a' }),
      tenant('a', { team: 'a' }),
      tenant('c'),
      cudn('blue', TEAM_A, PRIMARY),
      pod('a/p'),
      pod('b/p'),
    );
    expect(await condition('ClusterUserDefinedNetwork', 'blue')).toMatchObject({
      status: 'True',
      message: 'NetworkAttachmentDefinition has been created in following namespaces: [a, b]',
    });
    expect(
      await Promise.all(['a', 'b'].map((ns) => annotation('NetworkAttachmentDefinition', `${ns}/blue`, 'network-id'))),
    ).toEqual(['1', '1']);
    expect([await addressOf('a/p', 'a/blue'), await addressOf('b/p', 'b/blue')].sort()).toEqual([
      '10.30.0.3/16',
      '10.30.0.4/16',
    ]);
    await cluster.patchAndSettle('Namespace', 'c', { metadata: { labels: { team: 'a' } } });
    expect((await condition('ClusterUserDefinedNetwork', 'blue'))?.message).toContain('[a, b, c]');
  });

  it('leaves a namespace that it does not select any more, when no pod uses it there', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('a', { team: 'a' }),
      tenant('b', { team: 'a' }),
      cudn('blue', TEAM_A, PRIMARY),
      pod('b/p'),
    );
    for (const ns of ['a', 'b']) await cluster.patchAndSettle('Namespace', ns, { metadata: { labels: { team: 'x' } } });
    expect(await cluster.get('NetworkAttachmentDefinition', 'a/blue')).toBeUndefined();
    expect(await condition('ClusterUserDefinedNetwork', 'blue')).toMatchObject({
      status: 'False',
      reason: 'NetworkAttachmentDefinitionSyncError',
      message: 'failed to delete NetworkAttachmentDefinition [b/blue]: network in use by the following pods: [b/p]',
    });
    await cluster.deleteAndSettle('Pod', 'b/p');
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
    expect(await condition('ClusterUserDefinedNetwork', 'blue')).toMatchObject({
      status: 'True',
      message: 'NetworkAttachmentDefinition has been created in following namespaces: []',
    });
  });

  it('names every namespace that went wrong, and is there in the others', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('a', { team: 'a' }),
      namespace('b', { team: 'a' }),
      tenant('c', { team: 'a' }),
      nad('c/own', netConf('c/own', 'c_own')),
      cudn('blue', TEAM_A, PRIMARY),
    );
    const { status, message } = (await condition('ClusterUserDefinedNetwork', 'blue')) ?? {};
    expect(status).toBe('False');
    expect(message).toContain('invalid primary network state for namespace "b"');
    expect(message).toContain('primary network already exist in namespace "c": "own"');
    expect(await annotation('NetworkAttachmentDefinition', 'a/blue', 'network-name')).toBe('cluster_udn_blue');
  });

  it('and another one select one namespace: the first has it, the second follows when the last pod of the first is gone', async () => {
    const select = (team: string) => ({ spec: { namespaceSelector: { matchLabels: { team } } } });
    const second = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.31.0.0/16'] } };
    const nads = async () =>
      (await cluster.list('NetworkAttachmentDefinition')).map(
        ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
      );
    const readyMessage = async (name: string) => (await condition('ClusterUserDefinedNetwork', name))?.message;
    cluster.start();
    await cluster.createAndSettle(tenant('a', { team: 'a' }), tenant('b', { team: 'a' }));
    await cluster.createAndSettle(cudn('blue', TEAM_A, PRIMARY), cudn('red', TEAM_A, second));
    expect((await nads()).sort()).toEqual(['a/blue', 'b/blue']);
    expect(await readyMessage('red')).toBe(
      'primary network already exist in namespace "a": "blue"; primary network already exist in namespace "b": "blue"',
    );
    await cluster.createAndSettle(pod('a/p'));
    await cluster.patchAndSettle('ClusterUserDefinedNetwork', 'blue', select('nobody'));
    // Over a restart, too: who waits and who is there does not change.
    await cluster.stop();
    cluster.start();
    await cluster.settled();
    expect((await nads()).sort()).toEqual(['a/blue', 'b/red']);
    expect(await readyMessage('red')).toBe(
      'primary network already exist in namespace "a": "blue"; the network works in namespaces [b] and not in [a]',
    );
    await cluster.patchAndSettle('Pod', 'a/p', { status: { phase: 'Succeeded' } }, 'status');
    expect((await nads()).sort()).toEqual(['a/red', 'b/red']);
    expect(await readyMessage('red')).toContain('in following namespaces: [a, b]');
    // And back: now the other one waits.
    await cluster.patchAndSettle('ClusterUserDefinedNetwork', 'blue', select('a'));
    expect(await readyMessage('blue')).toContain('primary network already exist in namespace "a": "red"');
  });

  it('has a namespace once, however often its selector names it', async () => {
    cluster.start();
    const matchExpressions = [{ key: 'team', operator: 'In', values: ['a', 'b', 'a'] }];
    await cluster.createAndSettle(
      tenant('n', { team: 'a' }),
      tenant('m', { team: 'b' }),
      cudn('blue', { matchExpressions }, PRIMARY),
    );
    expect((await condition('ClusterUserDefinedNetwork', 'blue'))?.message).toMatch(/namespaces: \[m, n\]$/);
  });

  it('keeps what it has when an edit makes it unreadable', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('a', { team: 'a' }), cudn('blue', TEAM_A, PRIMARY));
    await withoutRules(cluster, 'clusteruserdefinednetworks.k8s.ovn.org', () =>
      cluster.patchAndSettle('ClusterUserDefinedNetwork', 'blue', {
        spec: { network: { layer2: { subnets: ['nonsense'] } } },
      }),
    );
    expect((await condition('ClusterUserDefinedNetwork', 'blue'))?.message).toBe(
      'failed to generate NetworkAttachmentDefinition: spec.network.layer2.subnets[0]: CIDR is invalid: "nonsense" is not a CIDR',
    );
    expect(await cluster.get('NetworkAttachmentDefinition', 'a/blue')).toBeDefined();
  });

  it('says what is not supported yet', async () => {
    cluster.start();
    const noOverlay = { outboundSNAT: 'Enabled', routing: 'Managed' };
    const layer3 = { role: 'Primary', subnets: [{ cidr: '10.1.0.0/16' }] };
    const network = { topology: 'Layer3', layer3, transport: 'NoOverlay', noOverlay };
    await cluster.createAndSettle(tenant('a', { team: 'a' }), cudn('blue', TEAM_A, network));
    expect((await condition('ClusterUserDefinedNetwork', 'blue'))?.message).toBe(
      'failed to generate NetworkAttachmentDefinition: transport NoOverlay is not supported yet',
    );
  });

  it('lets a namespace go that is deleted together with its pods', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('a', { team: 'a' }),
      tenant('b', { team: 'a' }),
      cudn('blue', TEAM_A, PRIMARY),
      pod('a/p'),
    );
    await cluster.deleteAndSettle('Namespace', 'a');
    await cluster.delete('Pod', 'a/p').catch(() => {});
    await cluster.settled();
    expect(await cluster.get('Namespace', 'a')).toBeUndefined();
    expect((await condition('ClusterUserDefinedNetwork', 'blue'))?.message).toContain('namespaces: [b]');
  });

  it('is deleted with all its NADs', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('a', { team: 'a' }),
      tenant('b', { team: 'a' }),
      cudn('blue', TEAM_A, PRIMARY),
    );
    await cluster.deleteAndSettle('ClusterUserDefinedNetwork', 'blue');
    expect(await cluster.list('ClusterUserDefinedNetwork')).toEqual([]);
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
  });
});
