// SPDX-License-Identifier: LGPL-2.1-or-later
// upgrade: exchanges the module of a transport for another build, while disks stay open, mounted and in use.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/build.h>
#include <nvmeof/result.h>

#include "builds.h"
#include "context.h"
#include "documents.h"
#include "libctl/base/file.h"
#include "libctl/volume/volume.h"

using namespace nvmeof;
using namespace std::chrono_literals;
using nofctl::volume::firstLine;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

// Exchange of a loaded module for another build of it. All possible checks are made before the unload.
class ModuleImage {
public:
	// Reads the whole file into memory: its disk may be one whose I/O waits during the exchange.
	static nvmeof::Result<ModuleImage> read(const std::filesystem::path &file);

	// Why it cannot replace module @name on top of the loaded module @core; empty if no reason is known.
	std::string mismatchReason(const std::string &name, const nvmeof::ModuleBuild &core) const;
	const nvmeof::ModuleBuild &module() const { return module_; }
	nvmeof::Result<void> load(const std::string &parameters) const;
	// Whether the kernel would load it. Call while a module of that name is loaded: the kernel checks signature,
	// lockdown and kernel version before it refuses a second module of the same name.
	nvmeof::Result<void> checkLoadable() const;

private:
	nvmeof::ModuleBuild module_;
	std::string bytes_;
};

// Current values of the module parameters: "a=1 b=Y"
std::string loadedParameters(const std::string &module);

// Does not wait; fails if the module is in use.
nvmeof::Result<void> unloadModule(const std::string &name);

namespace {

constexpr milliseconds step = 10ms;
constexpr const char *core = "nvmeof";
constexpr const char *offlineStep =
	"disks must be stopped: 'nvmeofctl disconnect --all', then 'modprobe -r' and 'modprobe', or reboot";

const ModuleBuild *findLoaded(const std::vector<ModuleBuild> &modules, const std::string &name)
{
	auto found = std::find_if(modules.begin(), modules.end(), [&](const auto &one) { return one.name == name; });
	return found == modules.end() || !found->loaded ? nullptr : &*found;
}

Error notLoaded(const std::string &name)
{
	Error error;
	error.code = ErrorCode::noModule;
	error.message = name + " is not loaded: nothing to replace";
	error.object = {ErrorObject::Kind::module, name};
	return error;
}

Error refused(const std::string &why)
{
	Error error;
	error.message = why;
	return error;
}

// The live controllers of the transport. The exchange does not wait for others, which were not connected before.
Result<std::vector<std::string>> liveNames(Client &client, const std::string &transport)
{
	Result<std::vector<Controller>> all = client.controllers();
	if (!all)
		return all.error();
	std::vector<std::string> names;
	for (const Controller &one : *all)
		if (one.transport == transport && one.state == ControllerState::live)
			names.push_back(one.name);
	return names;
}

// Waits until all of @names are live, or until @end. Returns those that are not live.
Result<std::vector<std::string>> waitForAll(Client &client, const std::string &transport,
					    const std::vector<std::string> &names, Clock::time_point end)
{
	for (;;) {
		Result<std::vector<std::string>> live = liveNames(client, transport);
		if (!live)
			return live;
		std::vector<std::string> missing;
		for (const std::string &name : names)
			if (std::find(live->begin(), live->end(), name) == live->end())
				missing.push_back(name);
		if (missing.empty() || Clock::now() >= end)
			return missing;
		std::this_thread::sleep_for(step);
	}
}

bool same(const Build &one, const Build &other)
{
	return one.version == other.version && one.source == other.source && one.buildId == other.buildId;
}

// Runs @work in a child process with a session of its own and all signals blocked, so that neither Ctrl-C nor a lost
// SSH connection ends it between unload and load. Returns its exit code.
Result<int> runInChild(const std::function<int()> &work)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	signal(SIGCHLD, SIG_DFL); // if it is ignored, as inherited, waitpid() fails
	pid_t child = fork();
	int failed = errno;
	if (child == 0) {
		setsid();
		_exit(work());
	}
	sigprocmask(SIG_SETMASK, &before, nullptr);
	if (child < 0)
		return errorFromErrno(failed,
				      fmt::format("cannot start a process, nothing was changed: {}", strerror(failed)));
	int status = 0;
	pid_t ended;
	while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	if (ended != child || !WIFEXITED(status))
		return refused("the child process that replaces the module died");
	return WEXITSTATUS(status);
}

class Upgrade {
public:
	Upgrade(Context &context, Client &client, std::string transport)
		: context_(context), client_(client), transport_(std::move(transport)),
		  name_(std::string(core) + "_" + transport_)
	{
	}

	int run();

private:
	// Exchanges the module, and reports the result.
	int exchangeAndReport();
	int exchangeInChild();
	// Checks everything, and changes nothing. Returns an exit code, or nothing if the exchange may begin.
	std::optional<int> prepare();
	// Keeps the installed file, if it is the loaded build, to load it again if the new one cannot be loaded.
	void keepOld(const ModuleBuild &loaded);
	Result<void> exchange();
	Upgraded outcome(std::vector<std::string> missing) const;
	int tell(const std::vector<std::string> &missing);
	int reportPlan();

	Context &context_;
	Client &client_;
	std::string transport_, name_, parameters_;
	Build from_;
	std::optional<ModuleImage> image_, old_;
	std::vector<std::string> names_;
	milliseconds away_{};
};

void Upgrade::keepOld(const ModuleBuild &loaded)
{
	if (!loaded.installed || loaded.installed->source != from_.source || loaded.file == image_->module().file)
		return;
	if (Result<ModuleImage> old = ModuleImage::read(loaded.file))
		old_ = *old;
}

std::optional<int> Upgrade::prepare()
{
	std::vector<ModuleBuild> modules = moduleBuilds();
	const ModuleBuild *loaded = findLoaded(modules, name_), *base = findLoaded(modules, core);
	if (!loaded || !base)
		return context_.fail("", notLoaded(name_),
				     fmt::format("'modprobe {}' loads the one that is installed", name_));
	std::string file = context_.args().textOr("file", loaded->file);
	if (file.empty())
		return context_.fail("",
				     refused(name_ + " is not installed for this kernel: give its file with --file"));
	Result<ModuleImage> image = ModuleImage::read(file);
	if (!image)
		return context_.fail("", image.error());
	if (std::string why = image->mismatchReason(name_, *base); !why.empty())
		return context_.fail("", refused(why), offlineStep);
	if (Result<void> admitted = image->checkLoadable(); !admitted)
		return context_.fail("", admitted.error(),
				     "nothing was changed: the kernel would reject the module; check that it is "
				     "signed, and built for this kernel");
	if (same(*image->module().installed, *loaded->loaded) && !context_.args().has("force")) {
		if (context_.json())
			context_.print(upgradeDocument({name_,
							*loaded->loaded,
							*image->module().installed,
							image->module().file,
							{},
							{},
							{}}));
		else
			context_.note("", fmt::format("{} is already build {}; --force replaces it anyway", name_,
						      buildText(*loaded->loaded)));
		return 0;
	}
	Result<std::vector<std::string>> names = liveNames(client_, transport_);
	if (!names)
		return context_.fail("", names.error());
	image_ = *image;
	from_ = *loaded->loaded;
	names_ = *names;
	parameters_ = loadedParameters(name_);
	keepOld(*loaded);
	return std::nullopt;
}

// Locks all memory first: the pages of this program may be on a disk whose I/O waits for the module.
Result<void> Upgrade::exchange()
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		return errorFromErrno(errno, fmt::format("cannot lock this program in memory: {}", strerror(errno)));
	if (Result<void> kept = client_.keepTransport(transport_); !kept)
		return kept;
	if (Result<void> unloaded = unloadModule(name_); !unloaded)
		return unloaded;
	Result<void> loaded = image_->load(parameters_);
	// EEXIST: the kernel has loaded the installed module for a concurrent connect
	if (loaded || loaded.error().sysErrno == EEXIST)
		return {};
	Error error = loaded.error();
	bool back = old_ && old_->load(parameters_);
	error.message += back ? "; the previous module has been loaded again"
			      : fmt::format("; its controllers and their I/O wait until ctrl-loss-tmo expires: run "
					    "'modprobe {}', or load another build",
					    name_);
	return error;
}

Upgraded Upgrade::outcome(std::vector<std::string> missing) const
{
	return {name_, from_, *image_->module().installed, image_->module().file, names_, std::move(missing), away_};
}

int Upgrade::reportPlan()
{
	const Build &to = *image_->module().installed;
	if (context_.json())
		context_.print(upgradeDocument(outcome({})));
	else
		context_.out() << fmt::format("{} is {}, would be {}: {}\n{} controllers would reconnect\n", name_,
					      buildText(from_), buildText(to), image_->module().file, names_.size());
	return 0;
}

int Upgrade::tell(const std::vector<std::string> &missing)
{
	const Build &to = *image_->module().installed;
	if (context_.json())
		context_.print(upgradeDocument(outcome(missing)));
	else
		context_.out() << fmt::format("{} was {}, is {}\n{} controllers live again after {} ms\n", name_,
					      buildText(from_), buildText(to), names_.size() - missing.size(),
					      away_.count())
			       << std::flush;
	if (missing.empty())
		return 0;
	Error error;
	error.code = ErrorCode::timedOut;
	error.message = fmt::format("not live yet: {}", fmt::join(missing, " "));
	return context_.complain("", error, "they keep retrying; 'nvmeofctl show NAME' shows the last error");
}

int Upgrade::exchangeAndReport()
{
	Clock::time_point begun = Clock::now();
	if (Result<void> done = exchange(); !done)
		return context_.fail("", done.error(),
				     done.error().sysErrno == EAGAIN || done.error().sysErrno == EBUSY
					     ? "a connect is in progress: try again"
					     : "");
	Result<std::vector<std::string>> missing =
		waitForAll(client_, transport_, names_, begun + context_.args().seconds("timeout").value_or(30s));
	if (!missing)
		return context_.fail("", missing.error());
	away_ = std::chrono::duration_cast<milliseconds>(Clock::now() - begun);
	return tell(*missing);
}

// Logs a failure to syslog as well, because the terminal may be gone.
int Upgrade::exchangeInChild()
{
	int code = 1;
	try {
		code = exchangeAndReport();
		context_.out().flush();
	} catch (const std::exception &e) {
		syslog(LOG_DAEMON | LOG_ERR, "nvmeofctl upgrade %s: %s", transport_.c_str(), e.what());
	}
	if (code)
		syslog(LOG_DAEMON | LOG_ERR,
		       "nvmeofctl upgrade %s failed (%d): 'nvmeofctl version' shows the loaded modules",
		       transport_.c_str(), code);
	return code;
}

int Upgrade::run()
{
	if (std::optional<int> status = prepare())
		return *status;
	if (context_.args().has("dry-run"))
		return reportPlan();
	Result<int> status = runInChild([this] { return exchangeInChild(); });
	return status ? *status : context_.fail("", status.error(), "'nvmeofctl version' shows the loaded modules");
}

} // namespace

int runUpgrade(Context &context)
{
	Result<Client> client = Client::open();
	if (!client)
		return context.fail("", client.error());
	return Upgrade(context, *client, context.args().textOr("TRANSPORT", "")).run();
}

// ---- modules

namespace {

constexpr std::string_view elfMagic = "\x7f"
				      "ELF";
constexpr std::size_t largestModule = 256 << 20;
// End of a signed module; see the kernel's scripts/sign-file.
constexpr std::string_view signedMagic = "~Module signature appended~\n";

bool signaturesDemanded()
{
	return firstLine("/sys/module/module/parameters/sig_enforce") == "Y";
}

Error moduleError(const std::string &name, const char *what)
{
	int reason = errno;
	Error error = errorFromErrno(reason, fmt::format("cannot {} {}: {}", what, name, std::strerror(reason)));
	error.code = ErrorCode::failed; // ENOENT means an unknown symbol
	error.object = {ErrorObject::Kind::module, name};
	return error;
}

} // namespace

Result<ModuleImage> ModuleImage::read(const fs::path &file)
{
	Result<ModuleBuild> module = moduleInFile(file);
	if (!module)
		return module.error();
	Result<std::string> bytes = nofctl::readWholeFile(file, largestModule);
	if (!bytes)
		return bytes.error();
	ModuleImage image;
	image.module_ = *module;
	image.bytes_ = *std::move(bytes);
	return image;
}

std::string ModuleImage::mismatchReason(const std::string &name, const ModuleBuild &core) const
{
	const Build &build = *module_.installed;
	if (module_.name != name)
		return fmt::format("{} is the module {}, not {}", module_.file, module_.name, name);
	if (!bytes_.starts_with(elfMagic))
		return fmt::format("{} is compressed: decompress it, and give the result with --file", module_.file);
	if (!core.loaded || core.loaded->contract.empty() || build.contract != core.loaded->contract)
		return fmt::format("{} was built for another version of {} than the loaded one", module_.file,
				   core.name);
	if (signaturesDemanded() && !bytes_.ends_with(signedMagic))
		return fmt::format("{} is not signed, and the kernel loads signed modules only", module_.file);
	return "";
}

Result<void> ModuleImage::load(const std::string &parameters) const
{
	if (syscall(SYS_init_module, bytes_.data(), bytes_.size(), parameters.c_str()) == 0)
		return {};
	return moduleError(module_.name, "load");
}

Result<void> ModuleImage::checkLoadable() const
{
	Result<void> loaded = load("");
	if (loaded || loaded.error().sysErrno == EEXIST)
		return {};
	return loaded;
}

std::string loadedParameters(const std::string &module)
{
	std::string text;
	std::error_code error;
	for (const fs::directory_entry &entry : fs::directory_iterator("/sys/module/" + module + "/parameters", error))
		text += fmt::format("{}{}={}", text.empty() ? "" : " ", entry.path().filename().string(),
				    firstLine(entry.path()));
	return text;
}

Result<void> unloadModule(const std::string &name)
{
	if (syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) == 0)
		return {};
	return moduleError(name, "unload");
}
