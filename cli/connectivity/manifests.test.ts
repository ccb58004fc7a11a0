import { describe, expect, it } from 'vitest';
import { parseCidr } from '../../net/cidr.ts';
import { manifestsOf } from './manifests.ts';
import { HOSTNAME_LABEL, RUN_LABEL, type Run } from './run.ts';

const run: Run = {
  id: 'c0ffee',
  nodes: [
    { name: 'n1', hostname: 'host-1' },
    { name: 'n2', hostname: 'host-2' },
  ],
  subnets: [parseCidr('10.203.0.0/16'), parseCidr('fd00:10:203::/48')],
  image: 'agnhost:2',
  program: '/agnhost',
};

const named = (of: Run): readonly string[] =>
  manifestsOf(of).map(({ resource, object }) =>
    [resource.kind, object.metadata.namespace, object.metadata.name].filter(Boolean).join(' '),
  );
const objectOf = (of: Run, kind: string, name?: string) =>
  manifestsOf(of).find(
    ({ resource, object }) => resource.kind === kind && (name ?? object.metadata.name) === object.metadata.name,
  )?.object;

describe('the objects of a run', () => {
  it('what a pod needs comes before it', () => {
    expect(named(run)).toEqual([
      'Namespace connectivity-c0ffee-a',
      'ServiceAccount connectivity-c0ffee-a server',
      'UserDefinedNetwork connectivity-c0ffee-a net',
      'Service connectivity-c0ffee-a web',
      'Namespace connectivity-c0ffee-b',
      'ServiceAccount connectivity-c0ffee-b server',
      'UserDefinedNetwork connectivity-c0ffee-b net',
      'Service connectivity-c0ffee-b web',
      ...['a1', 'a2', 'a3'].map((name) => `Pod connectivity-c0ffee-a ${name}`),
      ...['b1', 'b2', 'b3'].map((name) => `Pod connectivity-c0ffee-b ${name}`),
    ]);
  });

  it('all have the label of the run', () => {
    for (const { object } of manifestsOf(run)) expect(object.metadata.labels).toMatchObject({ [RUN_LABEL]: 'c0ffee' });
  });

  it('the default network is tested without networks, and without the label of namespaces with one', () => {
    const plain = { ...run, subnets: undefined };
    expect(named(plain).filter((name) => name.startsWith('UserDefined'))).toEqual([]);
    expect(Object.keys(objectOf(plain, 'Namespace')?.metadata.labels ?? {})).not.toContain(
      'k8s.ovn.org/primary-user-defined-network',
    );
  });

  it('a network has subnets of both families, and one of them for each of many nodes', () => {
    expect(objectOf(run, 'UserDefinedNetwork')).toMatchObject({
      spec: {
        layer3: {
          role: 'Primary',
          subnets: [
            { cidr: '10.203.0.0/16', hostSubnet: 27 },
            { cidr: 'fd00:10:203::/48', hostSubnet: 64 },
          ],
        },
      },
    });
  });

  it('a pod runs on its node, without privileges', () => {
    expect(objectOf(run, 'Pod', 'b3')).toMatchObject({
      metadata: { namespace: 'connectivity-c0ffee-b' },
      spec: {
        nodeSelector: { [HOSTNAME_LABEL]: 'host-2' },
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            ...{ name: 'server', image: 'agnhost:2' },
            command: ['/agnhost', 'netexec', '--http-port=30080', '--udp-port=30081'],
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          },
        ],
      },
    });
  });

  it('with one node, all pods are there', () => {
    const [first] = run.nodes;
    const pods = manifestsOf({ ...run, nodes: [first] }).filter(({ resource }) => resource.kind === 'Pod');
    expect(pods).toHaveLength(6);
    for (const { object } of pods)
      expect(object).toMatchObject({ spec: { nodeSelector: { [HOSTNAME_LABEL]: 'host-1' } } });
  });
});
