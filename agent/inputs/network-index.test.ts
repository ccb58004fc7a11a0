import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import type { KubeObject } from '../../kube/types.ts';
import { FactStore } from '../model/fact-store.ts';
import { type NadProjection, ownNad, projectNad } from './nad-projection.ts';
import { NetworkIndex } from './network-index.ts';

interface NadInput {
  readonly network: string;
  readonly id?: number;
  readonly subnets?: string;
  readonly age?: number;
  /** It was rendered from the UserDefinedNetwork of its name. */
  readonly isRendered?: boolean;
  /** In the list beside ours. */
  readonly beside?: string;
}

const nad = (
  key: string,
  { network, id, subnets = '10.20.0.0/16', age = 1, isRendered, beside }: NadInput,
): NadProjection => {
  const [namespace = '', name = ''] = key.split('/');
  const config = {
    cniVersion: '1.1.0',
    type: 'ovn-k8s-cni-overlay',
    name: network,
    netAttachDefName: key,
    topology: 'layer3',
    role: 'primary',
    subnets,
  };
  const object = {
    metadata: {
      namespace,
      name,
      uid: key,
      resourceVersion: '1',
      creationTimestamp: `2026-01-0${age}T00:00:00Z`,
      ...(isRendered && {
        ownerReferences: [{ apiVersion: 'k8s.ovn.org/v1', kind: 'UserDefinedNetwork', name, uid: `uid-${key}` }],
      }),
      annotations:
        id === undefined ? {} : { 'k8s.ovn.org/network-id': String(id), 'k8s.ovn.org/network-name': network },
    },
    spec: { config: JSON.stringify(beside === undefined ? config : listOf(config, beside)) },
  } satisfies KubeObject;
  const projection = ownNad(projectNad(object));
  if (projection === undefined) throw new Error('not ours');
  return projection;
};

const listOf = ({ cniVersion, name, ...plugin }: { cniVersion: string; name: string }, beside: string) => ({
  ...{ cniVersion, name },
  plugins: [plugin, { type: beside }],
});

const setUp = () => {
  const facts = new FactStore();
  return { facts, index: new NetworkIndex(facts, parseClusterConfig()) };
};

it('a primary network names the plugins of its list that nobody executes', () => {
  const { index } = setUp();
  const mixed = nad('red/net', { network: 'red_net', id: 3, beside: 'tuning' });
  index.change(undefined, mixed);
  expect(index.problems).toEqual([
    {
      ...{ object: 'NetworkAttachmentDefinition/red/net', cause: 'network-invalid' },
      message: 'plugins: tuning beside ours are not executed for a primary network, and have no effect',
    },
  ]);
  index.change(mixed, undefined);
  expect(index.problems).toEqual([]);
});

describe('a network', () => {
  it.each<[string, { isRendered?: boolean }]>([
    ['', {}],
    [', with an owner that somebody wrote into it', { isRendered: true }],
  ])('is not that of a NAD of another namespace which copies its configuration, whichever is older%s', (_, claims) => {
    const { facts, index } = setUp();
    index.change(undefined, nad('evil/copy', { network: 'red_net', age: 1, ...claims }));
    index.change(undefined, nad('red/net', { network: 'red_net', id: 3, age: 2, isRendered: true }));
    expect(facts.get('network', 'red_net')).toMatchObject({ id: 3 });
    expect([facts.get('nad', 'red/net'), facts.get('handmadeNad', 'red/net')]).toEqual(['red_net', undefined]);
    expect(facts.get('nad', 'evil/copy')).toBeUndefined();
    expect(facts.get('handmadeNad', 'evil/copy')).toBe(claims.isRendered ? undefined : true);
    expect(index.problems).toEqual([
      {
        object: 'NetworkAttachmentDefinition/evil/copy',
        message: 'network red_net belongs to NAD red/net',
        cause: 'network-invalid',
      },
    ]);
  });

  it('is known when one of its NADs has an id, and gone with the last', () => {
    const { facts, index } = setUp();
    const without = nad('red/net', { network: 'red_net' });
    index.change(undefined, without);
    expect(facts.get('network', 'red_net')).toBeUndefined();
    expect(facts.get('primaryNad', 'red')).toEqual({ nad: 'red/net', network: 'red_net' });
    const withId = nad('red/net', { network: 'red_net', id: 3 });
    index.change(without, withId);
    expect(facts.get('network', 'red_net')).toMatchObject({ id: 3, topology: 'layer3', role: 'primary' });
    index.change(withId, undefined);
    expect([facts.get('network', 'red_net'), facts.get('nad', 'red/net'), facts.get('primaryNad', 'red')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is what its oldest NAD says; a NAD that contradicts it is reported and not used', () => {
    const { facts, index } = setUp();
    index.change(undefined, nad('b/net', { network: 'shared', id: 3, age: 1 }));
    index.change(undefined, nad('a/net', { network: 'shared', id: 3, age: 2, subnets: '10.99.0.0/16' }));
    expect(facts.get('network', 'shared')?.subnets).toEqual([{ cidr: '10.20.0.0/16', hostPrefix: 24 }]);
    expect([facts.get('nad', 'b/net'), facts.get('nad', 'a/net')]).toEqual(['shared', undefined]);
    expect(facts.get('nadProblem', 'a/net')).toEqual({
      message: 'CNI config does not match that of network shared in NAD b/net',
      contradicts: true,
    });
    expect(index.problems).toEqual([
      {
        object: 'NetworkAttachmentDefinition/a/net',
        cause: 'network-invalid',
        message: 'CNI config does not match that of network shared in NAD b/net',
      },
    ]);
  });
});

describe('a network of many namespaces', () => {
  const COUNT = 1_000;

  /** Counts how often somebody looks at what the NAD says. */
  const counted = (key: string, input: NadInput, look: () => void): NadProjection => {
    const { networkText, ...rest } = nad(key, input);
    return {
      ...rest,
      get networkText() {
        look();
        return networkText;
      },
    };
  };

  it('costs its agents one comparison for each NAD, and all of them only when another NAD defines it', () => {
    const { facts, index } = setUp();
    let looks = 0;
    const one = (at: number, age = 2): NadProjection =>
      counted(`ns${at}/net`, { network: 'shared', id: 3, age }, () => looks++);
    const nads = Array.from({ length: COUNT }, (_, at) => one(at));
    for (const each of nads) index.change(undefined, each);
    expect(looks).toBeLessThanOrEqual(4 * COUNT);
    looks = 0;
    index.change(nads[500], one(500));
    expect(looks).toBeLessThanOrEqual(4);
    index.change(undefined, one(COUNT, 1));
    expect(looks).toBeGreaterThan(COUNT);
    expect(facts.get('nad', `ns${COUNT - 1}/net`)).toBe('shared');
  });

  it('judges all of them anew when the one that defines it is edited', () => {
    const { facts, index } = setUp();
    const [first, second] = [1, 2].map((age) => nad(`ns${age}/net`, { network: 'shared', id: 3, age }));
    index.change(undefined, first);
    index.change(undefined, second);
    const edited = nad('ns1/net', { network: 'shared', id: 3, age: 1, subnets: '10.99.0.0/16' });
    index.change(first, edited);
    expect([facts.get('nad', 'ns1/net'), facts.get('nad', 'ns2/net')]).toEqual(['shared', undefined]);
    expect(index.problems).toHaveLength(1);
    index.change(edited, undefined);
    expect([facts.get('nad', 'ns1/net'), facts.get('nad', 'ns2/net')]).toEqual([undefined, 'shared']);
    expect(index.problems).toEqual([]);
  });
});

it('a network is as old as the NAD that defines it now', () => {
  const { index } = setUp();
  const redefined: string[] = [];
  index.onRedefined((network) => redefined.push(`${network} ${index.createdAt(network)}`));
  const [first, second] = [1, 2].map((age) => nad(`ns${age}/net`, { network: 'shared', id: 3, age }));
  index.change(undefined, second);
  index.change(undefined, first);
  expect(index.createdAt('shared')).toBe(first?.createdAt);
  index.change(first, undefined);
  expect(index.createdAt('shared')).toBe(second?.createdAt);
  index.change(second, undefined);
  expect(index.createdAt('shared')).toBe('');
  expect(redefined).toEqual([first, second].map((one) => `shared ${one?.createdAt}`));
});

it('a namespace has one primary network, its oldest; a second one is reported until the first is gone', () => {
  const { facts, index } = setUp();
  const first = nad('red/z', { network: 'red_z', id: 1, age: 1 });
  index.change(undefined, nad('red/a', { network: 'red_a', id: 2, age: 2 }));
  index.change(undefined, first);
  expect(facts.get('primaryNad', 'red')).toEqual({ nad: 'red/z', network: 'red_z' });
  expect(index.problems.map(({ message }) => message)).toEqual([
    'primary network already exist in namespace "red": "red/z"',
  ]);
  index.change(first, undefined);
  expect(facts.get('primaryNad', 'red')).toEqual({ nad: 'red/a', network: 'red_a' });
  expect(index.problems).toEqual([]);
});

describe('two networks never share a datapath', () => {
  it('of two with one id the older is used, and the younger when the older is gone', () => {
    const { facts, index } = setUp();
    const old = nad('a/net', { network: 'a_net', id: 7, age: 1 });
    index.change(undefined, nad('b/net', { network: 'b_net', id: 7, age: 2 }));
    expect(facts.get('network', 'b_net')).toMatchObject({ id: 7 });
    index.change(undefined, old);
    expect([facts.get('network', 'a_net')?.id, facts.get('network', 'b_net')]).toEqual([7, undefined]);
    expect(index.problems).toEqual([
      {
        object: 'NetworkAttachmentDefinition/b/net',
        cause: 'network-invalid',
        message: 'network b_net has an id, a tunnel key or names of OVN rows that belong to network a_net',
      },
    ]);
    expect(facts.get('nadProblem', 'b/net')).toEqual({ message: index.problems[0]?.message, contradicts: false });
    index.change(old, undefined);
    expect(facts.get('network', 'b_net')).toMatchObject({ id: 7 });
    expect([index.problems, facts.get('nadProblem', 'b/net')]).toEqual([[], undefined]);
  });

  it('and none is the default network', () => {
    const { facts, index } = setUp();
    index.change(undefined, nad('a/net', { network: 'a_net', id: 0 }));
    expect(facts.get('network', 'a_net')).toBeUndefined();
    expect(index.problems).toHaveLength(1);
  });

  it('of two whose rows would have the same names the older is used', () => {
    const { facts, index } = setUp();
    index.change(undefined, nad('a/net', { network: 'cluster_udn_x-y', id: 7, age: 1 }));
    index.change(undefined, nad('b/net', { network: 'cluster_udn_x.y', id: 8, age: 2 }));
    expect([facts.get('network', 'cluster_udn_x-y')?.id, facts.get('network', 'cluster_udn_x.y')]).toEqual([
      7,
      undefined,
    ]);
  });
});

describe('an id that nodes may still have', () => {
  const red = nad('red/net', { network: 'red_net', id: 3 });
  const blue = nad('blue/net', { network: 'blue_net', id: 3, age: 2 });

  it('is not the next network’s before nothing is left of the one that had it', () => {
    const { facts, index } = setUp();
    const holders = new Map<number, string>();
    index.withhold((id, network) => (holders.get(id) === network ? undefined : holders.get(id)));
    facts.listen((kind, name, present) => {
      if (kind === 'network' && name === 'red_net' && !present) holders.set(3, 'red_net');
    });
    index.change(undefined, red);
    index.change(undefined, blue);
    index.change(red, undefined);
    expect([facts.get('network', 'red_net'), facts.get('network', 'blue_net')]).toEqual([undefined, undefined]);
    expect(index.problems).toMatchObject([{ object: 'NetworkAttachmentDefinition/blue/net' }]);
    holders.clear();
    index.review(3);
    expect(facts.get('network', 'blue_net')).toMatchObject({ id: 3 });
    expect(index.problems).toEqual([]);
  });

  it('stays that of a network that is here already', () => {
    const { facts, index } = setUp();
    index.change(undefined, red);
    index.withhold((_id, _network, isHere) => (isHere ? undefined : 'somebody'));
    index.review(3);
    expect(facts.get('network', 'red_net')).toMatchObject({ id: 3 });
    index.change(red, undefined);
    index.change(undefined, red);
    expect(facts.get('network', 'red_net')).toBeUndefined();
  });

  it('a network that gets another one is taken away first', () => {
    const { facts, index } = setUp();
    const seen: boolean[] = [];
    index.change(undefined, red);
    facts.listen((kind, _name, present) => {
      if (kind === 'network') seen.push(present);
    });
    index.change(red, nad('red/net', { network: 'red_net', id: 4 }));
    expect([seen, facts.get('network', 'red_net')?.id]).toEqual([[false, true], 4]);
  });
});
