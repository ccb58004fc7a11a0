/** What only the cluster-wide kind has: transports, uplinks, the selector of namespaces. */
import {
  clusterSpec,
  type Fields,
  type InvalidCase,
  layer2,
  layer3,
  localnet,
  refusedCluster,
  refusedSpec,
  takenCluster,
  type ValidCase,
} from './cases.ts';

const NO_OVERLAY = { outboundSNAT: 'Enabled', routing: 'Managed' };
const noOverlay = (network: Fields = layer3(), more: Fields = { noOverlay: NO_OVERLAY }): Fields => ({
  ...network,
  transport: 'NoOverlay',
  ...more,
});

export const invalidNoOverlay: readonly InvalidCase[] = [
  refusedCluster(
    'an unknown transport',
    layer3({}, { transport: 'Geneve' }),
    'transport',
    'Unsupported value: "Geneve"',
  ),
  refusedCluster(
    'NoOverlay on layer 2',
    noOverlay(layer2()),
    'transport',
    "transport 'NoOverlay' is only supported for Layer3 primary networks",
  ),
  refusedCluster(
    'NoOverlay on a secondary network',
    noOverlay(layer3({ role: 'Secondary' })),
    'transport',
    "transport 'NoOverlay' is only supported for Layer3 primary networks",
  ),
  refusedCluster(
    'NoOverlay on localnet',
    noOverlay(localnet()),
    'transport',
    "transport 'NoOverlay' is only supported for Layer3 primary networks",
  ),
  refusedCluster(
    'NoOverlay without its configuration',
    noOverlay(layer3(), {}),
    'noOverlay',
    "spec.noOverlay is required when type transport is 'NoOverlay'",
  ),
  refusedCluster(
    'its configuration without NoOverlay',
    layer3({}, { noOverlay: NO_OVERLAY }),
    'noOverlay',
    "spec.noOverlay is forbidden when transport type is not 'NoOverlay'",
  ),
  refusedCluster(
    'no SNAT',
    noOverlay(layer3(), { noOverlay: { routing: 'Managed' } }),
    'noOverlay.outboundSNAT',
    'Required',
  ),
  refusedCluster(
    'an unknown SNAT',
    noOverlay(layer3(), { noOverlay: { ...NO_OVERLAY, outboundSNAT: 'On' } }),
    'noOverlay.outboundSNAT',
    'Unsupported value: "On"',
  ),
  refusedCluster(
    'no routing',
    noOverlay(layer3(), { noOverlay: { outboundSNAT: 'Disabled' } }),
    'noOverlay.routing',
    'Required value',
  ),
  refusedCluster(
    'an unknown routing',
    noOverlay(layer3(), { noOverlay: { ...NO_OVERLAY, routing: 'BGP' } }),
    'noOverlay.routing',
    'Unsupported value: "BGP"',
  ),
].flat();

const MAC = { vni: 100 };
const IP = { vni: 200 };
const evpn = (network: Fields, config: Fields): Fields => ({
  ...network,
  transport: 'EVPN',
  evpn: { vtep: 'v', ...config },
});
const onlyPrimary = "transport 'EVPN' is only supported for Layer2 or Layer3 primary networks";

const target = (routeTarget: string): Fields => evpn(layer3(), { ipVRF: { vni: 200, routeTarget } });

const refusedTarget = (name: string, text: string, message: string): InvalidCase[] =>
  refusedCluster(`route target: ${name}`, target(text), 'evpn.ipVRF.routeTarget', message);

const ADMINISTRATOR = "RT global administrator must be either '*', an IPv4 address, or a number";

export const invalidEvpn: readonly InvalidCase[] = [
  refusedCluster(
    'on a secondary layer-2 network',
    evpn(layer2({ role: 'Secondary' }), { macVRF: MAC }),
    'transport',
    onlyPrimary,
  ),
  refusedCluster(
    'on a secondary layer-3 network',
    evpn(layer3({ role: 'Secondary' }), { ipVRF: IP }),
    'transport',
    onlyPrimary,
  ),
  refusedCluster('on localnet', evpn(localnet(), { macVRF: MAC }), 'transport', onlyPrimary),
  refusedCluster(
    'without its configuration',
    layer3({}, { transport: 'EVPN' }),
    'evpn',
    "spec.evpn field is required when transport is 'EVPN'",
  ),
  refusedCluster(
    'its configuration without EVPN',
    layer3({}, { evpn: { vtep: 'v', ipVRF: IP } }),
    'evpn',
    "spec.evpn field is forbidden when transport is not 'EVPN'",
  ),
  refusedCluster(
    'layer 2 without MAC-VRF',
    evpn(layer2(), { ipVRF: IP }),
    'evpn.macVRF',
    "spec.evpn.macVRF field is required for Layer2 topology when transport is 'EVPN'",
  ),
  refusedCluster(
    'layer 3 without IP-VRF',
    evpn(layer3(), { macVRF: MAC }),
    'evpn.ipVRF',
    "spec.evpn.ipVRF field is required for Layer3 topology when transport is 'EVPN'",
  ),
  refusedCluster(
    'layer 3 with MAC-VRF',
    evpn(layer3(), { ipVRF: IP, macVRF: MAC }),
    'evpn.macVRF',
    "spec.evpn.macVRF field is forbidden for Layer3 topology when transport is 'EVPN'",
  ),
  refusedCluster('no VRF', evpn(layer3(), {}), 'evpn', 'at least one of macVRF or ipVRF must be specified'),
  refusedCluster(
    'one VNI for both',
    evpn(layer2(), { macVRF: MAC, ipVRF: MAC }),
    'evpn.ipVRF.vni',
    'macVRF and ipVRF must use different VNIs',
  ),
  refusedCluster('no VTEP', layer2({}, { transport: 'EVPN', evpn: { macVRF: MAC } }), 'evpn.vtep', 'Required value'),
  refusedCluster('an empty VTEP', evpn(layer2(), { vtep: '', macVRF: MAC }), 'evpn.vtep', 'at least 1 chars long'),
  refusedCluster('no VNI', evpn(layer2(), { macVRF: {} }), 'evpn.macVRF.vni', 'Required value'),
  refusedCluster('VNI 0', evpn(layer2(), { macVRF: { vni: 0 } }), 'evpn.macVRF.vni', 'greater than or equal to 1'),
  refusedCluster(
    'a VNI of 25 bits',
    evpn(layer3(), { ipVRF: { vni: 16_777_216 } }),
    'evpn.ipVRF.vni',
    'should be less than or equal to 16777215',
  ),
  refusedTarget('no colon', '65000', 'RT must contain exactly one colon'),
  refusedTarget('two colons', '65000:1:2', 'RT must contain exactly one colon'),
  refusedTarget('nothing', '', 'RT must contain exactly one colon'),
  refusedTarget('too long', '255.255.255.255:655350', 'may not be more than 21'),
  refusedTarget('a name on the left', 'red:1', ADMINISTRATOR),
  refusedTarget('nothing on the left', ':1', ADMINISTRATOR),
  refusedTarget('an address that is none', '10.0.0.256:1', ADMINISTRATOR),
  refusedTarget('a name on the right', '65000:red', 'RT local administrator must be a number'),
  refusedTarget('nothing on the right', '65000:', 'RT local administrator must be a number'),
  refusedTarget('a negative number', '65000:-1', 'RT local administrator must be a number'),
  refusedTarget('* and 33 bits', '*:4294967296', 'RT with wildcard global administrator must have format *:OPQR'),
  refusedTarget(
    'an address and 17 bits',
    '10.0.0.1:65536',
    'RT with IPv4 global administrator must have format A.B.C.D:MN',
  ),
  refusedTarget(
    'a long AS number and 17 bits',
    '65536:65536',
    'RT with 4-byte ASN global administrator must have format',
  ),
  refusedTarget('an AS number of 33 bits', '4294967296:1', 'RT with 4-byte ASN global administrator must have format'),
  refusedTarget(
    'a short AS number and 33 bits',
    '65535:4294967296',
    'RT with 2-byte ASN global administrator must have',
  ),
  refusedCluster(
    'a route target of the MAC-VRF',
    evpn(layer2(), { macVRF: { vni: 100, routeTarget: 'a:b' } }),
    'evpn.macVRF.routeTarget',
    ADMINISTRATOR,
  ),
].flat();

const UPLINK_ROLE = 'spec.uplinks is supported only for primary Layer2 and Layer3 networks';
const withUplinks = (network: Fields, uplinks: unknown = ['east']): Fields => clusterSpec(network, { uplinks });

export const invalidSpec: readonly InvalidCase[] = [
  refusedSpec('no network', { namespaceSelector: {} }, 'spec.network', 'Required value'),
  refusedSpec('no selector', { network: layer3() }, 'spec.namespaceSelector', 'Required value'),
  refusedSpec(
    'a selector that is a list',
    { namespaceSelector: ['a'], network: layer3() },
    'spec.namespaceSelector',
    'must be of type object',
  ),
  refusedSpec(
    'a requirement without key',
    { namespaceSelector: { matchExpressions: [{ operator: 'Exists' }] }, network: layer3() },
    'spec.namespaceSelector.matchExpressions[0].key',
    'Required value',
  ),
  refusedSpec(
    'an uplink of a secondary network',
    withUplinks(layer3({ role: 'Secondary' })),
    'spec.uplinks',
    UPLINK_ROLE,
  ),
  refusedSpec(
    'an uplink of a secondary layer-2 network',
    withUplinks(layer2({ role: 'Secondary' })),
    'spec.uplinks',
    UPLINK_ROLE,
  ),
  refusedSpec('an uplink of localnet', withUplinks(localnet()), 'spec.uplinks', UPLINK_ROLE),
  refusedSpec(
    'an uplink with EVPN',
    withUplinks(evpn(layer3(), { ipVRF: IP })),
    'spec.uplinks',
    'spec.uplinks is not supported with EVPN transport',
  ),
  refusedSpec('two uplinks', withUplinks(layer3(), ['east', 'west']), 'spec.uplinks', 'must have at most 1 item'),
  refusedSpec('an uplink in capitals', withUplinks(layer3(), ['East']), 'spec.uplinks[0]', 'should match'),
  refusedSpec('an uplink without name', withUplinks(layer3(), ['']), 'spec.uplinks[0]', 'should match'),
  refusedSpec('a long uplink', withUplinks(layer3(), ['a'.repeat(254)]), 'spec.uplinks[0]', 'may not be more than 253'),
].flat();

export const validCluster: readonly ValidCase[] = [
  takenCluster('NoOverlay', noOverlay()),
  takenCluster(
    'NoOverlay without SNAT and routing',
    noOverlay(layer3(), { noOverlay: { outboundSNAT: 'Disabled', routing: 'Unmanaged' } }),
  ),
  takenCluster('EVPN on layer 2', evpn(layer2(), { macVRF: MAC })),
  takenCluster('EVPN on layer 2 with both VRFs', evpn(layer2(), { macVRF: MAC, ipVRF: IP })),
  takenCluster('EVPN on layer 3', evpn(layer3(), { ipVRF: IP })),
  takenCluster('the largest VNI', evpn(layer3(), { ipVRF: { vni: 16_777_215 } })),
  ...['*:1', '*:4294967295', '10.0.0.1:65535', '65535:4294967295', '65536:65535', '4294967295:65535', '0:0'].map(
    (text) => takenCluster(`route target ${text}`, target(text)),
  ),
  takenCluster('the longest route target', target('255.255.255.255:65535')),
  takenCluster('an uplink on layer 3', layer3(), { uplinks: ['east'] }),
  takenCluster('an uplink on layer 2', layer2(), { uplinks: ['east-1.rack'] }),
  takenCluster('an uplink with NoOverlay', noOverlay(), { uplinks: ['east'] }),
  takenCluster('no uplinks', layer2({ role: 'Secondary' }), { uplinks: [] }),
  takenCluster('all namespaces', layer3(), { namespaceSelector: {} }),
  takenCluster('a selector with all operators', layer3(), {
    namespaceSelector: {
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['x'] },
        { key: 'b', operator: 'NotIn', values: ['x'] },
        { key: 'c', operator: 'Exists' },
        { key: 'd', operator: 'DoesNotExist' },
      ],
    },
  }),
].flat();

export const EVPN_LAYER3 = evpn(layer3(), { ipVRF: IP });
export const NO_OVERLAY_LAYER3 = noOverlay();
