import fc from 'fast-check';
import { expect, it } from 'vitest';
import { podBodySchema, usualPodBody } from './policy-pod.ts';

const anything = fc.oneof(
  fc.constantFrom<unknown>(null, '', 0, [], {}, [null], [['a']]),
  fc.jsonValue({ maxDepth: 3 }),
);
const mostly = (...usual: unknown[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: anything });
const fields = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.oneof({ weight: 19, arbitrary: fc.record(model, { requiredKeys: [] }) }, { weight: 1, arbitrary: anything });
const container = fields({
  name: mostly('main'),
  ports: mostly([], [{ containerPort: 80, name: 'http' }], [{}], null),
  restartPolicy: mostly('Always', 7),
});
const containers = fc.oneof({ weight: 9, arbitrary: fc.array(container, { maxLength: 2 }) }, anything);
const spec = { nodeName: mostly('node-2', ''), hostNetwork: mostly(true, false) };
const pods = fields({
  spec: fields({ ...spec, containers, initContainers: containers }),
  status: fields({ phase: mostly('Running'), podIP: anything }),
});

it('what is read without the schema is what the schema reads', () => {
  let read = 0;
  fc.assert(
    fc.property(pods, (pod) => {
      const body = usualPodBody(pod);
      if (body === undefined) return;
      read += 1;
      expect(body).toEqual(podBodySchema.parse(pod));
    }),
    { numRuns: 2000 },
  );
  expect(read).toBeGreaterThan(100);
});

it('a pod needs no schema', () => {
  const containers = [{ name: 'main', image: 'registry.example/web:1', ports: [{ containerPort: 80 }] }];
  const pod = { spec: { nodeName: 'node-2', containers }, status: { phase: 'Running' } };
  expect(usualPodBody(pod)).toEqual(podBodySchema.parse(pod));
});
