export default process.getBuiltinModule('node:https');
