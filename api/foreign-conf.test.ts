import { describe, expect, it } from 'vitest';
import { parseForeignConf } from './foreign-conf.ts';

const NAD = { namespace: 'red', name: 'lan' };
const parse = (config: unknown) => parseForeignConf(typeof config === 'string' ? config : JSON.stringify(config), NAD);

describe('the configuration of another plugin', () => {
  it('is one plugin, with the name of the NAD where it has none', () => {
    expect(
      parse({ cniVersion: '1.0.0', type: 'macvlan', master: 'eth1', capabilities: { mac: true, ips: false } }),
    ).toEqual({
      cniVersion: '1.0.0',
      name: 'lan',
      plugins: [
        {
          type: 'macvlan',
          ipam: undefined,
          capabilities: ['mac'],
          config: { type: 'macvlan', master: 'eth1', capabilities: { mac: true, ips: false } },
        },
      ],
      disableCheck: false,
    });
  });

  it('is a chain, whose plugins have nothing of what the runtime gives them', () => {
    const plugins = [
      { type: 'bridge', ipam: { type: 'host-local', subnet: '10.1.0.0/24' }, name: 'other', prevResult: {} },
      { type: 'tuning', runtimeConfig: { mac: '02:00:00:00:00:01' }, cniVersion: '0.1.0' },
    ];
    const conf = parse({ name: 'net', plugins, disableCheck: true });
    expect(conf).toMatchObject({ cniVersion: '0.3.1', name: 'net', disableCheck: true });
    expect(conf.plugins.map(({ type, ipam, config }) => [type, ipam, Object.keys(config)])).toEqual([
      ['bridge', 'host-local', ['type', 'ipam']],
      ['tuning', undefined, ['type']],
    ]);
  });

  it.each([
    ['', /^spec.config: is empty, and configurations on the disk of a node are not read$/],
    ['{', /^spec.config: is not JSON/],
    ['[]', /must be (a map|an object)/],
    [{ type: '../../bin/sh' }, /^type: is not the name of a plugin$/],
    [{ type: '/bin/sh' }, /^type: /],
    [{ type: '..' }, /^type: /],
    [{ type: '' }, /^type: /],
    [{}, /^type: is required$/],
    [{ type: 'bridge', ipam: { type: 'a/b' } }, /^ipam/],
    [{ type: 'bridge', name: '../x' }, /^name: has characters other than/],
    [{ type: 'bridge', cniVersion: '2.0.0' }, /^cniVersion: /],
    [{ type: 'bridge', capabilities: { mac: 'yes' } }, /^capabilities.mac: /],
    // As Go reads keys: in any case, the last of several.
    [{ type: 'bridge', Type: 'host-device' }, /^spec.config: Type: plugins would read it as another key$/],
    [{ type: 'bridge', ipam: { type: 'host-local', Type: 'sh' } }, /^spec.config: Type: /],
    [{ type: 'bridge', ipam: { type: 'host-local' }, IPAM: { type: 'sh' } }, /^spec.config: IPAM: /],
    [{ type: 'portmap', PrevResult: {} }, /^spec.config: PrevResult: /],
    [{ type: 'bridge', ipam: { type: 'host-local', DataDir: 'x' } }, /^spec.config: DataDir: /],
    ['{"type":"bridge","\u017fysctl":1,"sysctl":2}', /^spec.config: sysctl: /],
    ['{"type":"bridge","networ\u212a":1,"network":2}', /^spec.config: network: /],
    [{ plugins: [{ type: 'bridge', x: [{ a: 1, A: 2 }] }] }, /^spec.config: A: /],
    [{ plugins: [] }, /^plugins: /],
    [{ plugins: [{ type: 'bridge' }, { type: 'a b' }] }, /^plugins\[1\].type: /],
    [{ plugins: Array.from({ length: 17 }, () => ({ type: 'bridge' })) }, /^plugins: /],
    [{ type: 'bridge', padding: 'x'.repeat(70_000) }, /^spec.config: is longer than 65536 characters$/],
    [`${'{"type":'.repeat(80)}1${'}'.repeat(80)}`, /nested more than 64 levels deep/],
  ])('that cannot be executed is refused: %j', (config, message) => {
    expect(() => parse(config)).toThrow(message);
  });
});
