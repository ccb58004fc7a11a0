import { describe, expect, it } from 'vitest';
import { parseMac } from '../../net/mac.ts';
import { attachmentsOf, parseDefaultNetworkSelection, parseNetworkSelections } from './network-selection.ts';
import { elementSchema } from './selection-element.ts';
import { SELECTION_FAULTS } from './selection-faults.ts';

describe('network selections', () => {
  it.each([
    ['the comma form', (count: number) => Array(count).fill('a').join(',')],
    ['JSON', (count: number) => JSON.stringify(Array(count).fill({ name: 'a' }))],
  ])('reads 32 networks in %s and no more', (_, text) => {
    expect(parseNetworkSelections(text(32), 'ns/pod')).toHaveLength(32);
    const message = 'at most 32 networks are possible, 33 are requested';
    expect(() => parseNetworkSelections(text(33), 'ns/pod')).toThrow(message);
  });

  it.each(['ips', 'default-route'])('does not look at each of thousands of %s', (field) => {
    const text = JSON.stringify([{ name: 'a', [field]: Array(17).fill('x') }]);
    expect(() => parseNetworkSelections(text, 'ns/pod')).toThrow(`[0].${field}: must have at most 16 items, has 17`);
  });

  it('counts before it looks', () => {
    const text = JSON.stringify(Array(33).fill({ name: '/' }));
    expect(() => parseNetworkSelections(text, 'ns/pod')).toThrow('33 are requested');
    expect(() => parseNetworkSelections('/,'.repeat(40_000), 'ns/pod')).toThrow('40000 are requested');
  });

  it('reads the comma form', () => {
    expect(parseNetworkSelections('a, other/b@eth7 ,a', 'ns/pod')).toEqual([
      { namespace: 'ns', name: 'a', interface: undefined, ips: [], defaultRoute: [] },
      { namespace: 'other', name: 'b', interface: 'eth7', ips: [], defaultRoute: [] },
      { namespace: 'ns', name: 'a', interface: undefined, ips: [], defaultRoute: [] },
    ]);
  });

  it('numbers repeated attachments and interfaces', () => {
    const attachments = attachmentsOf(parseNetworkSelections('a,other/b@eth7,a', 'ns/pod'));
    expect(attachments.map(({ nadKey, interfaceName }) => [nadKey, interfaceName])).toEqual([
      ['ns/a', 'net1'],
      ['other/b', 'eth7'],
      ['ns/a/1', 'net3'],
    ]);
  });

  it('reads the JSON form', () => {
    const text = JSON.stringify([
      {
        name: 'a',
        ips: ['10.0.0.5/24', 'fd00::5'],
        mac: '02:03:04:05:06:07',
        'default-route': ['10.0.0.1', 'fd00::1'],
        interface: 'x',
        bandwidth: { ingressRate: 1000, ingressBurst: 1600, egressRate: 2000 },
        portMappings: [
          { hostPort: 80, containerPort: 8080 },
          { hostPort: 53, containerPort: 53, protocol: 'udp' },
        ],
        'cni-args': { any: { thing: [1] } },
        'infiniband-guid': '24:8A:07:03:00:8D:AE:2F',
      },
      { name: 'b', namespace: '', 'ipam-claim-reference': 'claim', mac: null, 'default-route': [] },
    ]);
    expect(parseNetworkSelections(text, 'ns/pod')).toEqual([
      {
        namespace: 'ns',
        name: 'a',
        interface: 'x',
        ips: ['10.0.0.5', 'fd00::5'],
        mac: parseMac('02:03:04:05:06:07'),
        defaultRoute: ['10.0.0.1', 'fd00::1'],
        bandwidth: { ingressRate: 1000, ingressBurst: 1600, egressRate: 2000 },
        portMappings: [
          { hostPort: 80, containerPort: 8080, protocol: 'TCP' },
          { hostPort: 53, containerPort: 53, protocol: 'UDP' },
        ],
        cniArgs: { any: { thing: [1] } },
        infinibandGuid: '24:8a:07:03:00:8d:ae:2f',
      },
      { namespace: 'ns', name: 'b', ips: [], defaultRoute: [], ipamClaim: 'claim' },
    ]);
  });

  it('notes keys that nobody knows, except those of other programs', () => {
    const text = '[{"name":"a","ip":["10.0.0.5"],"com.example.key":1,"__proto__":2},{"name":"b"}]';
    const [first, second] = parseNetworkSelections(text, 'ns/pod');
    expect(first?.unknownKeys).toEqual(['ip', '__proto__']);
    expect(second).not.toHaveProperty('unknownKeys');
  });

  it.each(SELECTION_FAULTS)('refuses $annotation', ({ annotation, message }) => {
    const object = 'annotation k8s.v1.cni.cncf.io/networks of Pod ns/pod';
    expect(() => parseNetworkSelections(annotation, 'ns/pod')).toThrow(expect.objectContaining({ message, object }));
  });

  it('has a fault of every key', () => {
    const keys = new Set(SELECTION_FAULTS.map(({ key }) => key));
    expect([...keys].filter((key) => key !== '')).toEqual(Object.keys(elementSchema.shape));
  });

  it('lets the default network have addresses and a claim, which virtual machines ask for', () => {
    const text = '[{"name":"default","namespace":"ovn-kubernetes","ips":["10.0.0.9"],"ipam-claim-reference":"c"}]';
    expect(parseDefaultNetworkSelection(text, 'ns/pod')).toMatchObject({ ips: ['10.0.0.9'], ipamClaim: 'c' });
  });

  it('allows one default network, by its name only', () => {
    const text = '[{"name":"default","namespace":"ovn-kubernetes","ips":["10.0.0.9/16"]}]';
    expect(parseDefaultNetworkSelection(text, 'ns/pod').ips).toEqual(['10.0.0.9']);
    expect(() => parseDefaultNetworkSelection('other-namespace/default', 'ns/p')).toThrow(
      'unexpected default NSE namespace "other-namespace", expected "ovn-kubernetes"',
    );
    expect(() => parseDefaultNetworkSelection('ovn-kubernetes/x', 'ns/p')).toThrow('unexpected default NSE name "x"');
    expect(() => parseDefaultNetworkSelection('a,b', 'ns/p')).toThrow('exactly one network');
  });
});
