import { describe, expect, it } from 'vitest';
import { parseForeignConf } from './foreign-conf.ts';
import { parseForeignPlugins, refusedArguments, refusedPlugins } from './foreign-plugins.ts';

const refused = (config: object, allowed: string, namespace = 'red'): string | undefined =>
  refusedPlugins(
    parseForeignConf(JSON.stringify(config), { namespace, name: 'lan' }),
    namespace,
    parseForeignPlugins(allowed),
  );

const BRIDGE = { type: 'bridge', ipam: { type: 'host-local', ranges: [[{ subnet: 'fd00::/64' }]] } };
const NOT_LISTED = (type: string): string =>
  `plugin ${type} is not in --foreign-plugins of the agents for NetworkAttachmentDefinitions of namespace red`;

describe('a plugin of another network', () => {
  it.each([
    ['', NOT_LISTED('bridge')],
    ['bridge', NOT_LISTED('host-local')],
    ['blue/bridge,host-local', NOT_LISTED('bridge')],
    ['bridge,host-local', undefined],
    ['red/bridge,red/host-local', undefined],
  ])('runs where it is allowed: %j', (allowed, message) => expect(refused(BRIDGE, allowed)).toBe(message));

  it('of a chain each has to be', () => {
    const chain = { plugins: [BRIDGE, { type: 'tuning' }] };
    expect(refused(chain, 'bridge,host-local')).toBe(NOT_LISTED('tuning'));
    expect(refused(chain, 'bridge,host-local,tuning')).toBeUndefined();
  });

  const hostKey = (key: string): string => {
    const type = key.startsWith('ipam.') ? 'host-local' : 'bridge';
    return `${key} of plugin ${type} names a path or a link of the host, which --foreign-plugins allows by red/${type} only`;
  };

  it.each([
    [{ ipam: { type: 'host-local', dataDir: '/etc' } }, 'ipam.dataDir'],
    [{ ipam: { type: 'host-local', dataDir: 'etc' } }, 'ipam.dataDir'],
    [{ ipam: { type: 'host-local', resolvConf: 'shadow' } }, 'ipam.resolvConf'],
    [{ files: ['x', '../x'] }, 'files[1]'],
    [{ sysctl: { 'net/../../x': '1' } }, 'sysctl.net/../../x'],
    [{ bridge: 'ovn-k8s-mp3' }, 'bridge'],
    [{ bridge: 'br-int' }, 'bridge'],
    [{ master: 'br-ex\u0000x' }, 'master'],
    [{ master: 'mp3-udn-vrf\u0000' }, 'master'],
  ])('gets no path and no link of the host from any namespace: %j', (more, key) => {
    expect(refused({ ...BRIDGE, ...more }, 'bridge,host-local')).toBe(hostKey(key));
    expect(refused({ ...BRIDGE, ...more }, 'red/bridge,red/host-local')).toBeUndefined();
  });

  it('has what its own entry allows, and its IPAM plugin what that one’s does', () => {
    const link = { ...BRIDGE, bridge: 'br-int' };
    const path = { ...BRIDGE, ipam: { type: 'host-local', dataDir: '/var/lib/x' } };
    expect(refused(link, 'red/bridge,host-local')).toBeUndefined();
    expect(refused(path, 'red/bridge,host-local')).toBe(
      'ipam.dataDir of plugin host-local names a path or a link of the host, which --foreign-plugins allows by red/host-local only',
    );
  });

  it('may have subnets and addresses with a prefix', () => {
    const routes = [{ dst: '0.0.0.0/0', gw: '10.0.0.1' }, { dst: '::/0' }, { dst: 'fd00::1/128' }];
    expect(refused({ ...BRIDGE, routes }, 'bridge,host-local')).toBeUndefined();
  });
});

it.each(['a/b/c', '../bridge', 'Red/bridge', 'bridge/', 'bri dge'])('%j is no entry', (text) => {
  expect(() => parseForeignPlugins(text)).toThrow(`"${text}" is not [NAMESPACE/]PLUGIN`);
});

it('cni-args name no path and no link of the host, whatever is allowed', () => {
  expect(refusedArguments({ ips: ['10.0.0.1/24'], x: [2] })).toBeUndefined();
  expect(refusedArguments(undefined)).toBeUndefined();
  expect(refusedArguments({ script: '/bin/sh' })).toBe('cni-args: script names a path or a link of the host');
});
