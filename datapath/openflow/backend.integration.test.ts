import { openflowBackendSuite } from './backend.suite.ts';
import { manyFlowsSuite } from './many-flows.suite.ts';
import { noFloodSuite } from './no-flood.suite.ts';
import { VswitchWorld } from './testing/vswitch-world.ts';

openflowBackendSuite('ovs-vswitchd', () => VswitchWorld.create());
manyFlowsSuite('ovs-vswitchd', () => VswitchWorld.create());
noFloodSuite('ovs-vswitchd', () => VswitchWorld.create());
