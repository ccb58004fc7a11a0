import { expect, it } from 'vitest';
import { PAUSE_IMAGE } from '../../sandbox/real-kubelet/images.ts';
import { referenceOf, tagsFor } from './images.ts';

it('gives each name of a spec the image that stands in for it, whatever its registry and version', () => {
  const list = [
    ...['registry.test/e2e/nginx:1.15-4', 'registry.test/e2e/agnhost:2.63.0', 'registry.test:5000/agnhost:2.6'],
    ...['registry.test/pause:3.10.2', 'registry.test/e2e/volume/nfs:1.6.0', 'not an image', ''],
  ].join('\n');
  const others = ['registry.k8s.io/e2e-test-images/agnhost:2.45', 'docker.io/mfenwick100/cyclonus-worker:latest'];
  const tags = tagsFor(list, [{ name: 'agnhost' }]).filter(({ name }) => !others.includes(name));
  expect(tags).toEqual([
    { name: 'registry.test/e2e/agnhost:2.63.0', reference: referenceOf('agnhost') },
    { name: 'registry.test/e2e/nginx:1.15-4', reference: referenceOf('agnhost') },
    { name: 'registry.test/pause:3.10.2', reference: PAUSE_IMAGE },
    { name: 'registry.test:5000/agnhost:2.6', reference: referenceOf('agnhost') },
  ]);
});

it('has names for suites of other projects, and none for an image that is not there', () => {
  const names = (...images: readonly string[]) =>
    tagsFor(
      '',
      images.map((name) => ({ name })),
    ).map(({ name, reference }) => `${name} ${reference}`);
  const agnhost = `registry.k8s.io/e2e-test-images/agnhost:2.45 ${referenceOf('agnhost')}`;
  expect(names('agnhost')).toEqual([agnhost]);
  const worker = `docker.io/mfenwick100/cyclonus-worker:latest ${referenceOf('cyclonus-worker')}`;
  expect(names('agnhost', 'cyclonus-worker')).toEqual([worker, agnhost]);
});
