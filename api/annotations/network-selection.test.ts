import { describe, expect, it } from 'vitest';
import { parseMac } from '../../net/mac.ts';
import { attachmentsOf, parseDefaultNetworkSelection, parseNetworkSelections } from './network-selection.ts';

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
    const text =
      '[{"name":"a","ips":["10.0.0.5/24","fd00::5"],"mac":"02:03:04:05:06:07","default-route":["10.0.0.1"],"interface":"x","cni-args":{}}]';
    expect(parseNetworkSelections(text, 'ns/pod')).toEqual([
      {
        namespace: 'ns',
        name: 'a',
        interface: 'x',
        ips: ['10.0.0.5', 'fd00::5'],
        mac: parseMac('02:03:04:05:06:07'),
        defaultRoute: ['10.0.0.1'],
        ipamClaim: undefined,
      },
    ]);
  });

  it.each([
    ['a/b/c', '"a/b/c" is not [<namespace>/]<name>[@<interface>]'],
    ['a@thisnameiswaytoolong', 'is not [<namespace>/]'],
    ['[{"namespace":"x"}]', '[0].name: is required'],
    ['[{"name":"a","ips":["10.0.0.300"]}]', '[0].ips[0]: "10.0.0.300" is not an IP address'],
    ['{"name":"a"}', 'must be an array, is an object'],
    ['[{"name":"a","mac":"01:00:5e:00:00:01"}]', '[0].mac: "01:00:5e:00:00:01" is not the MAC address of an interface'],
  ])('refuses %s', (text, message) => {
    expect(() => parseNetworkSelections(text, 'ns/pod')).toThrow(message);
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
