import { expect, it } from 'vitest';
import { imageSpecs } from './image-spec.ts';

const specOf = (name: string) => imageSpecs().find((spec) => spec.name === name)!;

it('has every image of the Dockerfile, as its stages describe it', () => {
  expect(imageSpecs().map(({ name }) => name)).toEqual(['udn-agent', 'udn-cluster-manager', 'udnctl', 'udn-ovn']);
  expect(specOf('udn-cluster-manager')).toMatchObject({
    packages: [],
    entrypoint: ['/opt/ovn-udn/bin/udn-cluster-manager'],
    user: '65532:65532',
    layers: [
      [{ source: 'LICENSE', path: 'opt/ovn-udn/LICENSE' }],
      [{ source: 'node_modules/node/bin/node', path: 'opt/ovn-udn/node_modules/node/bin/node' }],
      [
        { source: 'bin/udn-cluster-manager', path: 'opt/ovn-udn/bin/udn-cluster-manager' },
        { source: 'dist/udn-cluster-manager.mjs', path: 'opt/ovn-udn/dist/udn-cluster-manager.mjs' },
        { source: 'dist/udn-cluster-manager.cjs', path: 'opt/ovn-udn/dist/udn-cluster-manager.cjs' },
        { source: 'build/udn-cluster-manager.code', path: 'opt/ovn-udn/build/udn-cluster-manager.code' },
        { source: 'build/memory.node', path: 'opt/ovn-udn/build/memory.node' },
      ],
    ],
  });
});

it('labels have values with spaces', () => {
  expect(specOf('udnctl').labels).toMatchObject({
    'org.opencontainers.image.description': 'User-defined networks for Kubernetes on OVN and OVS',
    'org.opencontainers.image.licenses': 'Apache-2.0',
  });
});

it('the agent’s image has what people type there, and no Node is in that of OVN', () => {
  expect(specOf('udn-agent').packages).toEqual(expect.arrayContaining(['curl', 'iproute2', 'iputils-ping', 'tcpdump']));
  const { packages, layers } = specOf('udn-ovn');
  expect(packages).toEqual(['iproute2', 'openvswitch-switch', 'ovn-central', 'ovn-host']);
  expect(layers.flat().map(({ source }) => source)).toEqual(['LICENSE', 'bin/ovn-daemon']);
});
