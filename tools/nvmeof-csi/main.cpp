// SPDX-License-Identifier: LGPL-2.1-or-later
// nvmeof-csi: a Container Storage Interface plugin, served on a UNIX socket
#include <csignal>
#include <iostream>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <grpcpp/grpcpp.h>

#include "controller.h"
#include "identity.h"
#include "local_machine.h"
#include "node.h"

namespace {

struct Options {
	std::string endpoint = "unix:///run/nvmeof/csi.sock";
	std::string mode = "all";
	std::string created = "/run/nvmeof/csi/created";
	std::string published = "/run/nvmeof/csi/published";
	std::vector<std::string> services;
	bool check = false;
	csi::NodeOptions node;
};

// NAME, or NAME=ADDR[:PORT]
nvmeof::Result<csi::ReachableService> parseService(const std::string &text)
{
	const std::size_t equals = text.find('=');
	if (text.empty() || equals == 0) {
		nvmeof::Error error;
		error.message = "'" + text + "' is not NAME[=ADDR[:PORT]]";
		return error;
	}
	if (equals == text.npos)
		return csi::ReachableService{text, {}};
	nvmeof::Result<nvmeof::Address> address = nvmeof::parseAddress(text.substr(equals + 1), "8009");
	if (!address)
		return address.error();
	return csi::ReachableService{text.substr(0, equals), *address};
}

// The signals are blocked before gRPC creates its threads, and received here by sigwait().
int serve(const Options &options)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, nullptr);
	csi::LocalMachine machine;
	csi::IdentityService identity(options.mode == "controller" ? nullptr : &machine);
	csi::ControllerService controller(options.created, options.published);
	csi::NodeService node(machine, options.node);
	grpc::ServerBuilder builder;
	builder.AddListeningPort(options.endpoint, grpc::InsecureServerCredentials());
	builder.RegisterService(&identity);
	if (options.mode != "node")
		builder.RegisterService(&controller);
	if (options.mode != "controller")
		builder.RegisterService(&node);
	::umask(0077); // only root may use the socket
	const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
	if (!server) {
		std::cerr << "nvmeof-csi: cannot listen on " << options.endpoint << "\n";
		return 1;
	}
	std::cerr << "nvmeof-csi: serving at " << options.endpoint << "\n";
	int caught = 0;
	sigwait(&signals, &caught);
	server->Shutdown();
	server->Wait();
	return 0;
}

std::string hostName()
{
	char name[256] = "";
	::gethostname(name, sizeof(name) - 1);
	return name;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	options.node.id = hostName();
	CLI::App app("Container Storage Interface for nvmeof");
	app.add_option("--endpoint", options.endpoint, "Socket to listen on")->capture_default_str();
	app.add_flag("--check", options.check,
		     "Only check whether a plugin serves at --endpoint, ready or not (exit code 0 or 1)");
	app.add_option("--mode", options.mode, "Services besides Identity")
		->check(CLI::IsMember({"all", "node", "controller"}))
		->capture_default_str();
	app.add_option("--node-id", options.node.id, "Name of this node")->capture_default_str();
	app.add_option("--max-volumes", options.node.maxVolumes, "Maximum number of volumes on this node; 0: no limit")
		->check(CLI::NonNegativeNumber)
		->capture_default_str();
	app.add_option(
		"--service", options.services,
		"NAME[=ADDR[:PORT]]: add csi.nvmeof/service-NAME to the node's topology; with an address, only if the "
		"node can reach it");
	app.add_option("--staged", options.node.staged, "Directory for records of staged volumes")
		->capture_default_str();
	app.add_option("--reached", options.node.reached, "Directory for records of reached services")
		->capture_default_str();
	app.add_option("--created", options.created, "Directory for records of created volumes")->capture_default_str();
	app.add_option("--published", options.published, "Directory for records of published volumes")
		->capture_default_str();
	CLI11_PARSE(app, argc, argv);
	if (options.check) {
		const grpc::Status status = csi::checkPlugin(options.endpoint);
		if (!status.ok())
			std::cerr << "nvmeof-csi: no answer at " << options.endpoint << ": " << status.error_message()
				  << "\n";
		return status.ok() ? 0 : 1;
	}
	for (const std::string &text : options.services) {
		nvmeof::Result<csi::ReachableService> service = parseService(text);
		if (!service) {
			std::cerr << "nvmeof-csi: --service: " << service.error().message << "\n";
			return 2;
		}
		options.node.services.push_back(*service);
	}
	return serve(options);
}
