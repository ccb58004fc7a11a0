/**
 * Selections that are wrong, with what their authors hear: the tests compare these with the parser, and docs/attachments.md has them
 * as its table.
 */
export interface SelectionFault {
  /** The key that is wrong; empty: the annotation as a whole. */
  readonly key: string;
  readonly annotation: string;
  readonly message: string;
}

/** One element with the name `a` and what is given. */
const element = (more: Readonly<Record<string, unknown>>): string => JSON.stringify([{ name: 'a', ...more }]);
const elements = (...each: readonly Readonly<Record<string, unknown>>[]): string =>
  JSON.stringify(each.map((more, index) => ({ name: 'ab'[index], ...more })));

const fault = (key: string, annotation: string, message: string): SelectionFault => ({ key, annotation, message });

export const SELECTION_FAULTS: readonly SelectionFault[] = [
  fault('', 'a/b/c', '"a/b/c" is not [<namespace>/]<name>[@<interface>]'),
  fault('', 'a@thisnameiswaytoolong', '"a@thisnameiswaytoolong" is not [<namespace>/]<name>[@<interface>]'),
  fault('', 'a@default', '"a@default" is not [<namespace>/]<name>[@<interface>]'),
  fault('', 'a,{"name":"b"}', 'not JSON: Unexpected token \'a\', "a,{"name":"b"}" is not valid JSON'),
  fault('', '{"name":"a"}', 'must be an array, is an object'),
  fault('', '["a"]', '[0]: must be an object, is a string'),
  fault('', Array(33).fill('a').join(','), 'at most 32 networks are possible, 33 are requested'),
  fault('name', '[{"namespace":"x"}]', '[0].name: is required'),
  fault('name', element({ name: 'A_b' }), '[0].name: "A_b" is not the name of a NetworkAttachmentDefinition'),
  fault('namespace', element({ namespace: 'x/y' }), '[0].namespace: "x/y" is not the name of a namespace'),
  fault('namespace', element({ namespace: 3 }), '[0].namespace: must be a string, is 3'),
  fault(
    'interface',
    element({ interface: 'a/b' }),
    '[0].interface: "a/b" is not an interface name (at most 15 characters)',
  ),
  fault(
    'interface',
    element({ interface: 'net%d' }),
    '[0].interface: "net%d" is not an interface name (at most 15 characters)',
  ),
  fault(
    'interface',
    element({ interface: '..' }),
    '[0].interface: ".." is not an interface name (at most 15 characters)',
  ),
  fault(
    'interface',
    element({ interface: 'sixteencharacter' }),
    '[0].interface: "sixteencharacter" is not an interface name (at most 15 characters)',
  ),
  fault('interface', element({ interface: 'lo' }), '[0].interface: "lo" is the pod\'s loopback interface'),
  fault('interface', 'a@eth0', '[0].interface: "eth0" is the pod\'s interface on the default network'),
  fault(
    'interface',
    element({ interface: 'ovn-udn1' }),
    '[0].interface: "ovn-udn1" is the pod\'s interface on its primary network',
  ),
  fault('interface', 'a@x,b@x', '[1].interface: "x" is the interface of [0] already'),
  fault('interface', 'a@net2,b', '[1].interface: "net2" is the interface of [0] already'),
  fault('ips', element({ ips: [] }), '[0].ips: must have at least 1 item, has 0'),
  fault('ips', element({ ips: '10.0.0.5' }), '[0].ips: must be an array, is a string'),
  fault('ips', element({ ips: ['10.0.0.300'] }), '[0].ips[0]: "10.0.0.300" is not an IP address'),
  fault('ips', element({ ips: Array(17).fill('x') }), '[0].ips: must have at most 16 items, has 17'),
  fault('mac', element({ mac: '02:03:04:05:06' }), '[0].mac: "02:03:04:05:06" is not a MAC address'),
  fault(
    'mac',
    element({ mac: '01:00:5e:00:00:01' }),
    '[0].mac: "01:00:5e:00:00:01" is not the MAC address of an interface',
  ),
  fault(
    'default-route',
    element({ 'default-route': ['10.0.0.0/8'] }),
    '[0].default-route[0]: "10.0.0.0/8" is not an IP address',
  ),
  fault(
    'default-route',
    element({ 'default-route': ['0.0.0.0'] }),
    '[0].default-route[0]: "0.0.0.0" is not the address of a gateway',
  ),
  fault(
    'default-route',
    element({ 'default-route': ['ff02::1'] }),
    '[0].default-route[0]: "ff02::1" is not the address of a gateway',
  ),
  fault(
    'default-route',
    element({ 'default-route': ['10.0.0.1', '10.0.0.2'] }),
    '[0].default-route: has more than one gateway of IPv4',
  ),
  fault(
    'default-route',
    element({ 'default-route': ['fd00::1', 'fd00::2', '10.0.0.1'] }),
    '[0].default-route: has more than one gateway of IPv6',
  ),
  fault(
    'default-route',
    elements({ 'default-route': ['10.0.0.1'] }, { 'default-route': ['fd00::1'] }),
    '[1].default-route: only one element may have it, and [0] has it already',
  ),
  fault('bandwidth', element({ bandwidth: {} }), '[0].bandwidth: must have a rate'),
  fault('bandwidth', element({ bandwidth: { ingressRate: 0 } }), '[0].bandwidth.ingressRate: must be at least 1, is 0'),
  fault(
    'bandwidth',
    element({ bandwidth: { ingressRate: '10M' } }),
    '[0].bandwidth.ingressRate: must be a number, is a string',
  ),
  fault('bandwidth', element({ bandwidth: { ingressBurst: 1 } }), '[0].bandwidth: ingressBurst needs ingressRate'),
  fault(
    'bandwidth',
    element({ bandwidth: { ingressRate: 1, egressBurst: 1 } }),
    '[0].bandwidth: egressBurst needs egressRate',
  ),
  fault('bandwidth', element({ bandwidth: { ingressRate: 1, rate: 1 } }), '[0].bandwidth: unknown field "rate"'),
  fault('portMappings', element({ portMappings: [] }), '[0].portMappings: must have at least 1 item, has 0'),
  fault(
    'portMappings',
    element({ portMappings: [{ hostPort: 80 }] }),
    '[0].portMappings[0].containerPort: is required',
  ),
  fault(
    'portMappings',
    element({ portMappings: [{ hostPort: 65_536, containerPort: 80 }] }),
    '[0].portMappings[0].hostPort: must be at most 65535, is 65536',
  ),
  fault(
    'portMappings',
    element({ portMappings: [{ hostPort: 1, containerPort: 1, protocol: 'icmp' }] }),
    '[0].portMappings[0].protocol: must be "TCP" or "UDP" or "SCTP", is "icmp"',
  ),
  fault(
    'portMappings',
    element({
      portMappings: [
        { hostPort: 1, containerPort: 1 },
        { hostPort: 1, containerPort: 2, protocol: 'tcp' },
      ],
    }),
    '[0].portMappings: has TCP port 1 of the host twice',
  ),
  fault('cni-args', element({ 'cni-args': ['x'] }), '[0].cni-args: must be a map, is an array'),
  fault(
    'infiniband-guid',
    element({ 'infiniband-guid': '24:8a' }),
    '[0].infiniband-guid: "24:8a" is not a GUID of 8 bytes, as 24:8a:07:03:00:8d:ae:2f',
  ),
  fault(
    'ipam-claim-reference',
    element({ 'ipam-claim-reference': 'x/y' }),
    '[0].ipam-claim-reference: "x/y" is not the name of an IPAMClaim',
  ),
  fault(
    'ipam-claim-reference',
    element({ ips: ['10.0.0.5'], 'ipam-claim-reference': 'c' }),
    '[0].ipam-claim-reference: excludes "ips": the addresses are those of the claim',
  ),
  fault(
    'ipam-claim-reference',
    elements({ 'ipam-claim-reference': 'c' }, { 'ipam-claim-reference': 'c' }),
    '[1].ipam-claim-reference: "c" is the claim of [0] already',
  ),
];
