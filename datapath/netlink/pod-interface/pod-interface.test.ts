import { fakeHarness } from '../harness.suite.ts';
import { podInterfaceSuite } from './pod-interface.suite.ts';

podInterfaceSuite('the fake', fakeHarness);
