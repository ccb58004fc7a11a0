import { describe, expect, it } from 'vitest';
import { type AgentOptions, parseAgentCommand } from './options.ts';

const gatewayOf = (args: readonly string[], env: Record<string, string> = {}): AgentOptions['gateway'] => {
  const command = parseAgentCommand(['--node', 'n1', ...args], env);
  if (command.kind !== 'run') throw new Error(command.kind);
  return command.options.gateway;
};

describe('the flags about the gateway', () => {
  it('have defaults, and variables', () => {
    const defaults = { mode: 'shared', interface: undefined, nextHops: [], vlanId: 0, allowNoUplink: false };
    expect(gatewayOf([])).toEqual(defaults);
    const env = {
      UDN_GATEWAY_MODE: 'local',
      UDN_GATEWAY_INTERFACE: 'bond0.7',
      UDN_GATEWAY_NEXTHOP: '10.0.0.1, fd00::1',
      UDN_GATEWAY_VLAN_ID: '4094',
      UDN_ALLOW_NO_UPLINK: 'true',
    };
    expect(gatewayOf([], env)).toEqual({
      mode: 'local',
      interface: 'bond0.7',
      nextHops: ['10.0.0.1', 'fd00::1'],
      vlanId: 4094,
      allowNoUplink: true,
    });
  });

  it.each([
    [['--gateway-mode', 'both'], /--gateway-mode "both"/],
    [['--gateway-interface', 'a/b'], /--gateway-interface/],
    [['--gateway-interface', 'rtos-a'], /names of routers' and switches' ports begin/],
    [['--gateway-nexthop', '10.0.0.1/24'], /--gateway-nexthop/],
    [['--gateway-vlan-id', '4095'], /--gateway-vlan-id/],
    [['--allow-no-uplink', 'yes'], /--allow-no-uplink/],
    [['--allow-no-uplink', 'true'], /needs --gateway-mode local/],
  ])('refuse %j', (args, message) => {
    expect(() => gatewayOf(args)).toThrow(message);
  });
});

describe('cleanup', () => {
  it('takes the flags that say where things are', () => {
    const command = parseAgentCommand(['cleanup', '--ovs-remote', 'tcp:127.0.0.1:6640'], { UDN_NODE: 'n1' });
    expect(command).toMatchObject({ kind: 'cleanup', options: { ovsRemote: 'tcp:127.0.0.1:6640' } });
  });

  it.each([
    ['--node', 'n1'],
    ['--network-grace', '9'],
    ['--gateway-mode', 'local'],
    ['--kubeconfig', '/etc/kube'],
  ])('refuses %s, which would do nothing', (flag, value) => {
    expect(() => parseAgentCommand(['cleanup', flag, value], {})).toThrow(`cleanup does not accept ${flag};`);
  });
});

it.each([
  [['--network-grace', '-1'], '--network-grace needs a value, not "-1"'],
  [['--network-grace=-1'], '--network-grace must be a number of seconds, not "-1"'],
])('an invalid duration is reported with its flag: %j', (args, message) => {
  expect(() => parseAgentCommand(['--node', 'n1', ...args], {})).toThrow(message);
});

it('the Services that all tenants reach are the API and DNS, those that are named, or none', () => {
  const allowedOf = (...args: readonly string[]): readonly string[] => {
    const command = parseAgentCommand(['--node', 'n1', ...args], {});
    return command.kind === 'run' ? command.options.allowedDefaultServices : [];
  };
  expect(allowedOf()).toEqual(['default/kubernetes', 'kube-system/kube-dns']);
  expect(allowedOf('--udn-allowed-default-services', 'ns/a,ns/b')).toEqual(['ns/a', 'ns/b']);
  expect(allowedOf('--udn-allowed-default-services', 'none')).toEqual([]);
  expect(() => allowedOf('--udn-allowed-default-services', 'dns')).toThrow('--udn-allowed-default-services: "dns"');
});

describe('the flags about encryption', () => {
  const encryptionOf = (...args: readonly string[]): AgentOptions['encryption'] => {
    const command = parseAgentCommand(['--node', 'n1', ...args], {});
    return command.kind === 'run' ? command.options.encryption : undefined;
  };

  it('leave tunnels as they are, or have files', () => {
    expect(encryptionOf()).toBeUndefined();
    expect(encryptionOf('--encryption', 'none')).toBeUndefined();
    expect(encryptionOf('--encryption', 'ipsec', '--encryption-key', '/pki/node-1.key')).toEqual({
      certificate: '/etc/ipsec.d/certs/ovn-udn.pem',
      privateKey: '/pki/node-1.key',
      authority: '/etc/ipsec.d/cacerts/ovn-udn.pem',
    });
  });

  it.each([
    [['--encryption', 'wireguard'], '--encryption "wireguard" is not one of none, ipsec'],
    [['--encryption-ca', 'ca.pem'], '--encryption-ca must be an absolute path without blanks, not "ca.pem"'],
    [['--encryption-certificate', '/a b'], '--encryption-certificate must be an absolute path'],
  ])('refuse %j', (args, message) => {
    expect(() => encryptionOf(...args)).toThrow(message);
  });
});

it('reads the DNS servers', () => {
  const serversOf = (...args: string[]) => {
    const command = parseAgentCommand(['--node', 'n1', ...args], {});
    return command.kind === 'run' ? command.options.dnsServers : undefined;
  };
  expect(serversOf()).toEqual([]);
  expect(serversOf('--dns-servers', '192.0.2.53, [2001:db8::53]:5353')).toEqual([
    { ip: '192.0.2.53', port: 53 },
    { ip: '2001:db8::53', port: 5353 },
  ]);
  expect(() => serversOf('--dns-servers', 'dns.example.com')).toThrow('--dns-servers: "dns.example.com"');
});

it('follows DNSNameResolvers in a namespace, or none', () => {
  const namespaceOf = (text: string) => {
    const command = parseAgentCommand(['--node', 'n1'], { UDN_DNS_NAME_RESOLVER: text });
    return command.kind === 'run' ? command.options.dnsNameResolver : undefined;
  };
  expect([namespaceOf('ovn-udn'), namespaceOf('none'), namespaceOf('')]).toEqual(['ovn-udn', undefined, undefined]);
  expect(() => namespaceOf('true/false')).toThrow('--dns-name-resolver "true/false" is not the name of a namespace');
});

it('takes ports that no pod gets, or none', () => {
  const reservedOf = (...args: string[]) => {
    const command = parseAgentCommand(['--node', 'n', ...args], {});
    return command.kind === 'run' ? command.options.reservedHostPorts : undefined;
  };
  expect(reservedOf()).toContain('TCP/10250');
  expect(reservedOf('--reserved-host-ports', 'TCP/22, UDP/53,SCTP/9')).toEqual(['TCP/22', 'UDP/53', 'SCTP/9']);
  expect(reservedOf('--reserved-host-ports', 'none')).toEqual([]);
  for (const bad of ['22', 'tcp/22', 'TCP/0', 'TCP/65536', ''])
    expect(() => reservedOf('--reserved-host-ports', bad || ' ')).toThrow('--reserved-host-ports: "');
});
