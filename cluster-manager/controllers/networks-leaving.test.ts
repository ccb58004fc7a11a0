import { describe, expect, it } from 'vitest';
import { cudn, layer2Udn, namespace, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest({ isStarted: true });

const { addressOf, eventsAbout } = observe(() => cluster);
const selecting = (selection: string) => ({ annotations: { 'k8s.v1.cni.cncf.io/networks': selection } });
const SECOND = { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.30.0.0/16'] } };
const TEAM = { matchLabels: { team: 'a' } };

describe('a network that waits for its pods to go', () => {
  it('gives nothing to pods that come, also after a restart, and those that are there keep what they have', async () => {
    await cluster.createAndSettle(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/old'));
    await cluster.delete('UserDefinedNetwork', 'ns/net');
    await cluster.createAndSettle(pod('ns/new'));
    expect(await addressOf('ns/new', 'ns/net')).toBeUndefined();
    expect(eventsAbout('new')).toEqual([
      'ErrorAllocatingPod: network ns_net is being removed: its pods get no addresses',
    ]);
    await cluster.stop();
    cluster.start();
    await cluster.settled();
    expect(await addressOf('ns/new', 'ns/net')).toBeUndefined();
    expect(await addressOf('ns/old', 'ns/net')).toBe('10.20.0.3/16');
    await cluster.deleteAndSettle('Pod', 'ns/old');
    expect(await cluster.get('UserDefinedNetwork', 'ns/net')).toBeUndefined();
  });

  it.each(['namespace', 'network'])('gives again when the %s has it stay', async (what) => {
    const select = async (isSelected: boolean): Promise<void> => {
      const team = isSelected ? 'a' : 'b';
      if (what === 'namespace') await cluster.patchAndSettle('Namespace', 'x', { metadata: { labels: { team } } });
      else
        await cluster.patchAndSettle('ClusterUserDefinedNetwork', 'blue', {
          spec: { namespaceSelector: { matchLabels: isSelected ? TEAM.matchLabels : { team: 'b' } } },
        });
    };
    await cluster.create(namespace('x', { team: 'a' }), node('n1'), cudn('blue', TEAM, SECOND));
    await cluster.createAndSettle(pod('x/old', selecting('blue')));
    await select(false);
    await cluster.createAndSettle(pod('x/new', selecting('blue')));
    expect(await addressOf('x/new', 'x/blue')).toBeUndefined();
    expect(await addressOf('x/old', 'x/blue')).toBe('10.30.0.1/16');
    await select(true);
    expect(await addressOf('x/new', 'x/blue')).toBe('10.30.0.2/16');
  });
});
