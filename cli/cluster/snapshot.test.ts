import { expect, it } from 'vitest';
import { NAD_ANNOTATIONS } from '../../api/names.ts';
import { layer2Udn, nad, tenant } from '../../cluster-manager/testing/objects.ts';
import { entry, nadOf, scene, settledNetwork, settledPod } from '../why/testing/objects.ts';
import { snapshotOf } from './snapshot.ts';

it('has a pod once among those that use a NAD, however many attachments it has', () => {
  const network = settledNetwork(layer2Udn('red/net', ['10.1.0.0/29']));
  const both = { ...entry('red/net', '10.1.0.3/29'), ...entry('red/net/1', '10.1.0.4/29') };
  const objects = [tenant('red'), network, nadOf(network, 'red', { subnets: '10.1.0.0/29' })];
  const pods = [settledPod('red/twice', both), settledPod('red/once', entry('red/net', '10.1.0.5/29'))];
  const using = scene([...objects, ...pods]).podsUsing('red/net');
  expect(using.map(({ key }) => key)).toEqual(['red/once', 'red/twice']);
});

it('has of an edited NAD what the cluster manager has adopted, and of one that cannot be read nothing', () => {
  const conf = (subnets: string) =>
    JSON.stringify({
      ...{ cniVersion: '1.0.0', name: 'wire', type: 'ovn-k8s-cni-overlay', topology: 'layer2' },
      ...{ netAttachDefName: 'red/hand', subnets },
    });
  const annotations = {
    [NAD_ANNOTATIONS.networkName]: 'wire',
    [NAD_ANNOTATIONS.networkConfig]: conf('10.97.0.0/24'),
  };
  const subnetsOf = (config: string) =>
    snapshotOf({ objects: [{ ...nad('red/hand', config, { annotations }) }], now: 0 })
      .nads.get('red/hand')
      ?.conf?.subnets.map(({ cidr }) => cidr);
  expect(subnetsOf(conf('10.99.0.0/24'))).toEqual(['10.97.0.0/24']);
  expect(subnetsOf('{')).toBeUndefined();
});
