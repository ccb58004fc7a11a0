/** A world as it would be read of a cluster: made up, and always the same. */
import { parseIp } from '../../../../net/ip.ts';
import { linkLocalFromMac, macFromIp } from '../../../../net/mac.ts';
import { nodeOf, PODS, SUBNETS, TENANTS } from '../cast.ts';
import { SERVICES } from '../cast-services.ts';
import {
  type AddressPair,
  DEFAULT_TENANT,
  type Foothold,
  type KnownHost,
  type PodInterface,
  type World,
} from '../world.ts';

const pair = (four: string, six: string): AddressPair => ({ 4: parseIp(four), 6: parseIp(six) });

const link = (device: string, addresses: AddressPair, nodeDevice: string): PodInterface => {
  const mac = macFromIp(addresses[4]);
  return { device, mac, addresses, linkLocal: linkLocalFromMac(mac), nodeDevice };
};

/** `10.80` and `fd00:80` of red, for example. */
const prefixOf = (tenant: string): readonly [string, string] => {
  const [four = '10.128.', six = 'fd00:128:'] = SUBNETS[tenant] ?? [];
  return [four.split('.').slice(0, 2).join('.'), six.split(':').slice(0, 2).join(':')];
};

const footholds = PODS.map((pod, index): Foothold => {
  const [tenant = ''] = pod.split('/');
  const isFar = nodeOf(pod) === 'node-2';
  const [four, six] = prefixOf(tenant);
  const host = 3 + index;
  const primary = pair(`${four}.${isFar ? 1 : 0}.${host}`, `${six}:0:${isFar ? 1 : 0}::${host}`);
  const locked = pair(`10.128.${isFar ? 1 : 0}.${host}`, `fd00:128:0:${isFar ? 1 : 0}::${host}`);
  return {
    ...{ pod, tenant, node: isFar ? 'node-2' : 'node-1' },
    primary: link(tenant === DEFAULT_TENANT ? 'eth0' : 'ovn-udn1', primary, `veth${index}p`),
    locked: tenant === DEFAULT_TENANT ? undefined : link('eth0', locked, `veth${index}l`),
    gateways: pair(`${four}.0.1`, `${six}::1`),
    gatewayMac: macFromIp(parseIp(`${four}.0.1`)),
  };
});

const host = (name: string, number: number): KnownHost => {
  const mac = `02:00:ac:14:00:${number.toString(16).padStart(2, '0')}`;
  return {
    name,
    mac,
    addresses: pair(`172.20.0.${number}`, `fd00:172:20::${number}`),
    linkLocal: parseIp(`fe80::${number}`),
  };
};

export const MADE_UP_WORLD: World = {
  footholds,
  networks: TENANTS.map((tenant, index) => {
    const [four, six] = prefixOf(tenant);
    return {
      tenant,
      managementPort: link(`ovn-k8s-mp${(index + 1) % TENANTS.length}`, pair(`${four}.0.2`, `${six}::2`), ''),
      masquerade: { 4: [parseIp(`169.254.0.${11 + index}`)], 6: [parseIp(`fd69::${11 + index}`)] },
      broadcast: parseIp(`${four}.0.255`),
    };
  }),
  nodes: [host('node-1', 11), host('node-2', 12)],
  outside: host('outside', 2),
  farManagementPort: link('ovn-k8s-mp0', pair('10.128.1.2', 'fd00:128:0:1::2'), ''),
  routerPorts: TENANTS.map((tenant, index) => ({
    ...{ name: `rtoj-GR_${tenant}`, tenant, mac: macFromIp(parseIp(`100.65.0.${index + 2}`)) },
    addresses: [parseIp(`100.65.0.${index + 2}`), parseIp(`fd99::${index + 2}`)],
  })),
  services: SERVICES.map(({ name, port, nodePort, healthCheckPort, names, isLocked }, index) => ({
    ...{ name, port, nodePort, healthCheckPort, tenant: name.split('/')[0] ?? '', endpoints: isLocked ? [] : names },
    addresses: pair(`10.96.0.${20 + index}`, `fd00:96::${20 + index}`),
  })),
  tunnelKeys: footholds
    .filter(({ node }) => node === 'node-2')
    .flatMap(({ pod, tenant }, index) =>
      (tenant === DEFAULT_TENANT ? [false] : [false, true]).map((isLocked) => ({
        ...{ pod, isLocked, vni: isLocked ? 3 : 20 + index, egress: 5 + index },
      })),
    ),
};
