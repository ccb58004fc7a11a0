import { describe, expect, it } from 'vitest';
import { parseIp } from '../../net/ip.ts';
import { TrackedView } from '../model/tracked-view.ts';
import { projection, SAME, setUp } from '../testing/pod-index.ts';
import { evaluatePod } from './pod-evaluation.ts';

describe('an entry of a secondary network', () => {
  const withSecondary = () => {
    const it = setUp();
    const secondary = { topology: 'layer2', role: 'secondary', subnets: ['10.9.0.0/24'] } as const;
    it.cluster
      .network('a/flat', { ...secondary, id: 20, namespace: 'a', nad: 'flat' })
      .network('c/flat', { ...secondary, id: 21, namespace: 'c', nad: 'flat' })
      .network('default/all', { ...secondary, id: 23, namespace: 'default', nad: 'all', handmade: true })
      .network('a/flat-1', { ...secondary, id: 24, subnets: ['10.8.0.0/24'], namespace: 'a', nad: 'flat-1' })
      .network('a/phys', { ...secondary, id: 22, topology: 'localnet', namespace: 'a', nad: 'phys' });
    return it;
  };

  it('counts where the pod has selected it, here and elsewhere, with the first address of the subnet too', () => {
    const it = withSecondary();
    it.put('a/pod', { selects: 'flat', ips: { ...SAME, 'a/flat': '10.9.0.1/24' }, tunnelId: 11 });
    it.put('a/far', { node: 'node2', selects: 'flat', ips: { 'a/flat': '10.9.0.2/24' }, tunnelId: 12 });
    expect([it.networks('a/pod'), it.networks('a/far')]).toEqual([['default', 'a/flat'], ['a/flat']]);
    expect(it.facts.get('pod', 'a/pod')?.networks.get('a/flat')?.role).toBe('secondary');
  });

  it.each([
    ['selects nothing', {}, 'a/flat'],
    ['selects another', { selects: 'phys' }, 'a/flat'],
    ['selects it once', { selects: 'flat' }, 'a/flat/1'],
    ['selects it of the namespace for all', { selects: 'default/all' }, 'default/all'],
  ] as const)('counts where the pod now %s: it keeps what it was given, here and elsewhere', (_, asked, key) => {
    const it = withSecondary();
    for (const [index, node] of ['node1', 'node2'].entries()) {
      it.put(`a/${node}`, { node, ...asked, ips: { [key]: `10.9.0.${7 + index}/24` }, tunnelId: 17 + index });
      expect(it.networks(`a/${node}`)).toEqual([key]);
    }
  });

  it('counts with the gateway that was asked for then, whatever is asked for now', () => {
    const it = withSecondary();
    const given = projection('a/pod', { selects: 'flat', ips: { ...SAME, 'a/flat': '10.9.0.3/24' }, tunnelId: 11 })!;
    const networks = new Map(
      [...given.fact.networks].map(([key, entry]) => [
        key,
        key === 'a/flat' ? { ...entry, gatewayIps: [parseIp('10.9.0.254')] } : entry,
      ]),
    );
    expect(evaluatePod({ ...given.fact, networks }, new TrackedView(it.facts, it.cluster.settings)).fact).toMatchObject(
      {
        networks: new Map([
          ['default', expect.anything()],
          ['a/flat', expect.objectContaining({ gatewayIps: ['10.9.0.254'] })],
        ]),
      },
    );
  });

  it('with what is no pod’s is left out alone, with a message', () => {
    const it = withSecondary();
    it.put('a/pod', { selects: 'flat', ips: { ...SAME, 'a/flat': '10.7.0.3/24' }, tunnelId: 11 });
    expect([it.networks('a/pod'), it.facts.get('pod', 'a/pod')?.barred]).toEqual([['default'], undefined]);
    expect(it.refused('a/pod')).toEqual([
      ['a/flat', expect.stringMatching(/pod-networks: a\/flat: ip_addresses: 10\.7\.0\.3 is not in 10\.9\.0\.0\/24/)],
    ]);
  });

  it('of a pod that runs is kept when it is damaged, and both messages are there when another one is taken', () => {
    const it = withSecondary();
    it.put('a/pod', { ips: { ...SAME, 'a/flat': '10.9.0.3/24' }, tunnelId: 11 });
    it.put('a/pod', { ips: { ...SAME, 'a/flat': '10.7.0.3/24' }, tunnelId: 11 });
    expect(it.facts.get('pod', 'a/pod')).toMatchObject({ lost: new Set(['a/flat']) });
    it.put('a/b', { second: 5, ips: { ...SAME, 'a/flat': '10.7.0.3/24' }, tunnelId: 12 });
    expect(it.refused('a/b').map(([key]) => key)).toEqual(['a/flat', 'default']);
  });

  it('with the port name of another one does not count', () => {
    const it = withSecondary();
    it.put('a/pod', { ips: { 'a/flat/1': '10.9.0.3/24', 'a/flat-1': '10.8.0.3/24' } });
    expect([it.networks('a/pod'), it.refused('a/pod')]).toEqual([
      ['a/flat/1'],
      [['a/flat-1', 'k8s.ovn.org/pod-networks: a/flat-1: its port has the name of that of a/flat/1']],
    ]);
  });

  it.each([
    ['it is another namespace’s', { selects: 'c/flat' }, 'c/flat'],
    ['no pod has that many', { selects: 'flat' }, 'a/flat/32'],
    ['it is for all and not selected', {}, 'default/all'],
    ['it is for all and selected once', { selects: 'default/all' }, 'default/all/1'],
  ] as const)('does not count where %s', (_, asked, key) => {
    const it = withSecondary();
    for (const node of ['node1', 'node2']) {
      it.put(`a/${node}`, { node, ...asked, ips: { [key]: '10.9.0.7/24' }, tunnelId: 17 });
      expect(it.networks(`a/${node}`)).toEqual([]);
    }
  });
});
