/** NetworkPolicies from the API's objects to rows: readers, index and features as a running agent has them. */
import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import type { KubeObject } from '../../kube/types.ts';
import { renderNode } from './render-node.ts';

const object = (kind: string, name: string, rest: object = {}, metadata: object = {}): KubeObject =>
  ({ kind, metadata: { name, uid: `uid-${name}`, resourceVersion: '1', ...metadata }, ...rest }) as KubeObject;

const node = (number: number): KubeObject =>
  object(
    'Node',
    `n${number}`,
    { status: { addresses: [{ type: 'InternalIP', address: `172.16.16.${number}` }] } },
    {
      annotations: {
        'k8s.ovn.org/node-id': String(number + 1),
        'k8s.ovn.org/node-subnets': `{"default":["10.128.${number}.0/24"]}`,
        'k8s.ovn.org/node-chassis-id': `chassis-${number}`,
      },
    },
  );

const pod = (namespace: string, name: string, on: number, host: number, labels: object): KubeObject => {
  const entry = {
    ip_addresses: [`10.128.${on}.${host}/24`],
    mac_address: `0a:58:0a:80:0${on}:0${host}`,
    role: 'primary',
  };
  const annotations = { 'k8s.ovn.org/pod-networks': JSON.stringify({ default: entry }) };
  return object('Pod', name, { spec: { nodeName: `n${on}` } }, { namespace, labels, annotations });
};

const POLICY = {
  podSelector: { matchLabels: { app: 'web' } },
  ingress: [{ from: [{ podSelector: { matchLabels: { app: 'client' } } }], ports: [{ port: 80 }] }],
};

const render = (...policies: KubeObject[]) =>
  renderNode({
    node: 'n1',
    cluster: parseClusterConfig(),
    objects: [
      ...[node(1), node(2), object('Namespace', 'red'), object('Namespace', 'blue')],
      pod('red', 'web', 1, 3, { app: 'web' }),
      pod('red', 'other', 1, 4, { app: 'other' }),
      pod('red', 'client', 2, 5, { app: 'client' }),
      pod('blue', 'client', 2, 6, { app: 'client' }),
      ...policies,
    ],
  });

const ofPolicies = (document: ReturnType<typeof render>) => {
  const { northbound } = document;
  const rows = (table: string) => (northbound[table] ?? []) as readonly Readonly<Record<string, unknown>>[];
  const isolated = rows('Port_Group').filter(({ acls }) => JSON.stringify(acls ?? []).includes('NetpolDeny'));
  return {
    sets: rows('Address_Set').flatMap(({ addresses }) => (addresses === undefined ? [] : [addresses])),
    isolated: isolated.flatMap(({ ports }) => (ports as string[] | undefined) ?? []),
    rules: rows('ACL').flatMap(({ match, external_ids: ids }) =>
      (ids as Record<string, string>)['k8s.ovn.org/owner-type'] === 'NetpolRule'
        ? [String(match).replaceAll(/\$a[0-9a-f]{32}/g, '$set')]
        : [],
    ),
  };
};

it('isolates the pods that a policy selects, and lets in whom it names', () => {
  const document = render(object('NetworkPolicy', 'web', { spec: POLICY }, { namespace: 'red' }));
  expect(ofPolicies(document)).toEqual({
    isolated: ['Logical_Switch_Port/red_web'],
    rules: ['ip4.src == $set && ip4.dst == $set && tcp && tcp.dst == 80'],
    sets: expect.arrayContaining([['10.128.2.5'], ['10.128.1.3']]),
  });
  expect(ofPolicies(document).sets).toHaveLength(2);
  expect(document.diagnostics.filter(({ object: of }) => of.startsWith('NetworkPolicy'))).toEqual([]);
});

it('is nothing where no policy is', () => {
  expect(ofPolicies(render())).toEqual({ isolated: [], rules: [], sets: [] });
});

it('isolates all that a policy which cannot be read may be about, and says so', () => {
  const spec = { ...POLICY, podSelector: { matchExpressions: [{ key: 'app', operator: 'Like', values: ['web'] }] } };
  const document = render(object('NetworkPolicy', 'web', { spec }, { namespace: 'red' }));
  const { isolated, rules } = ofPolicies(document);
  expect([...new Set(isolated)].sort()).toEqual(['Logical_Switch_Port/red_other', 'Logical_Switch_Port/red_web']);
  expect(rules).toEqual([]);
  expect(document.diagnostics).toContainEqual(
    expect.objectContaining({ object: 'NetworkPolicy/red/web', severity: 'error', cause: 'object-unreadable' }),
  );
});

it('knows the addresses that it assumes pods get here', () => {
  const web = object('Pod', 'web', { spec: { nodeName: 'n1' } }, { namespace: 'red', labels: { app: 'web' } });
  const client = object('Pod', 'client', { spec: { nodeName: 'n1' } }, { namespace: 'red', labels: { app: 'client' } });
  const document = renderNode({
    ...{ node: 'n1', cluster: parseClusterConfig() },
    objects: [
      node(1),
      object('Namespace', 'red'),
      web,
      client,
      object('NetworkPolicy', 'web', { spec: POLICY }, { namespace: 'red' }),
    ],
  });
  expect(ofPolicies(document).sets).toHaveLength(2);
});

it('isolates an attachment to a secondary network, and no other interface', () => {
  const config = {
    ...{ cniVersion: '1.1.0', name: 'red_flat', type: 'ovn-k8s-cni-overlay', netAttachDefName: 'red/flat' },
    ...{ topology: 'layer2', role: 'secondary', subnets: '10.90.0.0/24' },
  };
  const nad = object(
    'NetworkAttachmentDefinition',
    'flat',
    { spec: { config: JSON.stringify(config) } },
    { namespace: 'red', annotations: { 'k8s.ovn.org/network-id': '5' } },
  );
  const attached = (name: string, on: number, host: number, labels: object): KubeObject => {
    const entry = (ip: string, mac: string, rest: object) => ({ ip_addresses: [ip], mac_address: mac, ...rest });
    const entries = {
      default: entry(`10.128.${on}.${host}/24`, `0a:58:0a:80:0${on}:0${host}`, { role: 'primary' }),
      'red/flat': entry(`10.90.0.${host}/24`, `0a:58:0a:5a:00:0${host}`, { role: 'secondary', tunnel_id: 10 + host }),
    };
    const annotations = {
      'k8s.ovn.org/pod-networks': JSON.stringify(entries),
      'k8s.v1.cni.cncf.io/networks': 'flat',
    };
    return object('Pod', name, { spec: { nodeName: `n${on}` } }, { namespace: 'red', labels, annotations });
  };
  const policy = (policyFor: string) =>
    object(
      'MultiNetworkPolicy',
      'web',
      { spec: POLICY },
      { namespace: 'red', annotations: { 'k8s.v1.cni.cncf.io/policy-for': policyFor } },
    );
  const pods = [attached('db', 1, 7, { app: 'web' }), attached('user', 2, 8, { app: 'client' })];
  const document = render(nad, ...pods, policy('flat'));
  expect(ofPolicies(document)).toEqual({
    isolated: ['Logical_Switch_Port/red.flat_red_db'],
    rules: ['ip4.src == $set && ip4.dst == $set && tcp && tcp.dst == 80'],
    sets: expect.arrayContaining([['10.90.0.8'], ['10.90.0.7']]),
  });
  expect(ofPolicies(document).sets).toHaveLength(2);
  expect(document.diagnostics.filter(({ object: of }) => of.startsWith('MultiNetworkPolicy'))).toEqual([]);
  expect(ofPolicies(render(nad, ...pods, policy('none')))).toEqual({ isolated: [], rules: [], sets: [] });
});
