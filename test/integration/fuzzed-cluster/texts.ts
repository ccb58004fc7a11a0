/** Annotations and configurations: what is right, and what somebody may have made of it. */
import fc from 'fast-check';

type Text = fc.Arbitrary<string>;

const json = (value: fc.Arbitrary<unknown>): Text => value.map((one) => JSON.stringify(one));

/** What is no value of any field, or of none that is looked for. */
const invalid = fc.constantFrom<unknown>(
  null,
  '',
  0,
  -1,
  1.5,
  4096,
  2 ** 53,
  true,
  [],
  {},
  [null],
  [[]],
  'x',
  '10.20.0.300',
  '10.20.0.5',
  '10.20.0.5/16',
  'fd00::5/64',
  '::ffff:10.20.0.5/112',
  '10.20.0.5/33',
  '00:00:00:00:00:00',
  'ff:ff:ff:ff:ff:ff',
  '\u0000',
  '\u{1F980}',
  'a'.repeat(300),
);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Something else at some place of a JSON text. */
const withOther = (text: string, at: number, by: unknown): string => {
  const root: Record<string, unknown> & { value: unknown } = { value: JSON.parse(text) };
  const slots: (readonly [Record<string, unknown>, string])[] = [];
  const walk = (holder: Record<string, unknown>, key: string): void => {
    slots.push([holder, key]);
    const value = holder[key];
    if (isObject(value)) for (const inner of Object.keys(value)) walk(value, inner);
  };
  walk(root, 'value');
  const [holder, key] = slots[at % slots.length] ?? [root, 'value'];
  if (by === undefined) delete holder[key];
  else holder[key] = by;
  return JSON.stringify(root.value) ?? '';
};

/** Of a JSON text: cut, with another byte, with another value, doubled, or something else altogether. */
export const damaged = (good: Text): Text =>
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(good, fc.nat(), invalid).map(([text, at, by]) => withOther(text, at, by)) },
    { weight: 2, arbitrary: fc.tuple(good, fc.nat()).map(([text, at]) => withOther(text, at, undefined)) },
    { weight: 2, arbitrary: fc.tuple(good, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(good, fc.nat(), fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }))
        .map(([text, at, by]) => text.slice(0, at % text.length) + by + text.slice((at % text.length) + 1)),
    },
    { weight: 1, arbitrary: good.map((text) => text + text) },
    { weight: 1, arbitrary: json(invalid) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', ' ', 'null', '{"__proto__":{"a":1}}', '['.repeat(2000), '{"a":1,"a":2}'),
    },
  );

const host = fc.integer({ min: 0, max: 20 });

export const nodeIds: Text = fc.integer({ min: 0, max: 12 }).map(String);

/** @param network of layer 3, whose subnets are 10.20.0.0/16 */
export const nodeSubnets = (network: string): Text =>
  json(
    fc.record({
      default: host.map((n) => [`10.128.${n * 2}.0/23`]),
      [network]: host.map((n) => [`10.20.${n}.0/24`]),
    }),
  );

/** @param nadKey of a layer-2 network whose subnet is 10.20.0.0/16 */
export const podNetworks = (nadKey: string): Text =>
  json(
    fc.record({
      [nadKey]: fc.tuple(host, host, host).map(([ip, mac, key]) => ({
        ip_addresses: [`10.20.0.${ip}/16`],
        mac_address: `0a:58:0a:14:00:${mac.toString(16).padStart(2, '0')}`,
        gateway_ips: ['10.20.0.1'],
        tunnel_id: key,
        role: 'primary',
      })),
    }),
  );

export const defaultNetworks: Text = json(
  host.map((n) => [{ namespace: 'ovn-kubernetes', name: 'default', ips: [`10.20.0.${n}/16`] }]),
);

export const selections: Text = json(
  fc.constantFrom('other', 'net', 'nowhere').map((name) => [{ name, namespace: 't0', interface: 'net1' }]),
);

/** @param key of the NAD */
export const configurations = (key: string): Text =>
  json(
    fc
      .record({ topology: fc.constantFrom('layer2', 'layer3'), role: fc.constantFrom('secondary', 'primary'), n: host })
      .map(({ topology, role, n }) => ({
        cniVersion: '1.1.0',
        type: 'ovn-k8s-cni-overlay',
        name: `by-hand-${n}`,
        netAttachDefName: key,
        topology,
        role,
        subnets: '10.30.0.0/16',
      })),
  );

export const networkIds: Text = fc.integer({ min: 0, max: 40 }).map(String);

export const tunnelKeys: Text = json(
  fc.tuple(fc.integer({ min: 16_711_680, max: 16_711_700 }), fc.integer({ min: 16_715_770, max: 16_715_790 })),
);
