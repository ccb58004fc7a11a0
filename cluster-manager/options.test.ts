import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../api/cluster-config.ts';
import { helpText, parseCommand } from './options.ts';

describe('command line', () => {
  it('has defaults', () => {
    expect(parseCommand([], {})).toEqual({
      kind: 'run',
      options: {
        kubeconfig: undefined,
        context: undefined,
        apiServerFile: undefined,
        lease: { namespace: 'ovn-udn', name: 'udn-cluster-manager', seconds: 15 },
        electsLeader: true,
        metrics: { plain: undefined, tls: undefined },
        logLevel: 'info',
        cluster: parseClusterConfig(),
        limits: { maxNetworks: 4095, maxNetworksPerNamespace: 4095 },
      },
    });
  });

  it('takes flags before the environment', () => {
    const command = parseCommand(['--kubeconfig', 'a', '--mtu', '1300'], {
      UDN_KUBECONFIG: 'b',
      UDN_MTU: '1200',
      UDN_LOG_LEVEL: 'debug',
    });
    expect(command).toMatchObject({ options: { kubeconfig: 'a', logLevel: 'debug', cluster: { mtu: 1300 } } });
  });

  it('takes a Lease by namespace and name', () => {
    expect(parseCommand(['--lease', 'ovn-udn/one'], {})).toMatchObject({
      options: { lease: { namespace: 'ovn-udn', name: 'one', seconds: 15 } },
    });
  });

  it('takes limits for the networks of the cluster and of each namespace', () => {
    expect(parseCommand(['--max-networks-per-namespace', '3'], { UDN_MAX_NETWORKS: '100' })).toMatchObject({
      options: { limits: { maxNetworks: 100, maxNetworksPerNamespace: 3 } },
    });
  });

  it('cleanup takes what reaches the API server, and is the only command', () => {
    const options = { kubeconfig: 'a', context: undefined, kubeletKubeconfig: '/k', logLevel: 'info' };
    expect(parseCommand(['cleanup', '--kubeconfig', 'a', '--kubelet-kubeconfig', '/k'], {})).toEqual({
      kind: 'cleanup',
      options: { ...options, cluster: parseClusterConfig() },
    });
    expect(() => parseCommand(['cleanup', 'nodes'], {})).toThrow('"nodes" is not a flag');
  });

  it('knows help and version, whatever else is said', () => {
    expect([parseCommand(['--help', '--mtu', 'x'], {}).kind, parseCommand(['--version'], {}).kind]).toEqual([
      'help',
      'version',
    ]);
    for (const flag of ['kubeconfig', 'cluster-subnets', 'metrics-address']) expect(helpText()).toContain(`--${flag}`);
  });

  it.each([
    [['--unknown'], 'unknown flag --unknown'],
    [['extra'], '"extra" is not a flag'],
    [['--mtu', '1'], 'mtu: "1" is not an MTU (576–65536)'],
    [['--leader-elect', 'no'], '--leader-elect must be true or false, not "no"'],
    [['--lease', 'one'], '--lease "one" is not namespace/name'],
    [['--max-networks', '4096'], '--max-networks must be a number from 0 to 4095, not "4096"'],
    [['--max-networks', 'many'], '--max-networks must be a number from 0 to 4095, not "many"'],
    [
      ['--max-networks-per-namespace', '1.5'],
      '--max-networks-per-namespace must be a number from 0 to 4095, not "1.5"',
    ],
    [['--metrics-address', 'x'], '--metrics-address "x" is not host:port'],
  ])('refuses %j', (args, message) => {
    expect(() => parseCommand(args, {})).toThrow(message);
  });
});
