import { expect, it } from 'vitest';
import { layer2Udn, tenant } from '../../cluster-manager/testing/objects.ts';
import { entry, nadOf, scene, settledNetwork, settledPod } from '../why/testing/objects.ts';

it('has a pod once among those that use a NAD, however many attachments it has', () => {
  const network = settledNetwork(layer2Udn('red/net', ['10.1.0.0/29']));
  const both = { ...entry('red/net', '10.1.0.3/29'), ...entry('red/net/1', '10.1.0.4/29') };
  const objects = [tenant('red'), network, nadOf(network, 'red', { subnets: '10.1.0.0/29' })];
  const pods = [settledPod('red/twice', both), settledPod('red/once', entry('red/net', '10.1.0.5/29'))];
  const using = scene([...objects, ...pods]).podsUsing('red/net');
  expect(using.map(({ key }) => key)).toEqual(['red/once', 'red/twice']);
});
